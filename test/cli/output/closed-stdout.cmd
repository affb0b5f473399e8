kmstat report i386-6.1-slab-mono.dat >&-; echo status $?
kmstat --version >&-; echo status $?
