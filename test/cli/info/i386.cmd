kmstat info i386-6.1-slab-mono.dat
