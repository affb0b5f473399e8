kmstat report -n 6 i386-6.1-slab-mono.dat
