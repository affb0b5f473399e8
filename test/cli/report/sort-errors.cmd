kmstat report -s foo x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -s live_bytes,foo x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -s '' x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -s a,b,c,d,e,f,g,h,i x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -s x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -F foo x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -F symbol, x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -n x x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -n -1 x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report -l 1x x86_64-6.18-slab4-wl.dat; echo status $?
