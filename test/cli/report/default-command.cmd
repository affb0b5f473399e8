kmstat -n 3 i386-6.1-slab-mono.dat
