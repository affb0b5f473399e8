kmstat report --raw-ip -n 4 i386-6.1-slab-mono.dat
