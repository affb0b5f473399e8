kmstat report -n 2 -i i386-6.1-slab-mono.dat
