kmstat report i386-6.1-slab-mono.dat x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -i i386-6.1-slab-mono.dat x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report ''; echo status $?
kmstat report -n 1 -- i386-6.1-slab-mono.dat | head -n 1
