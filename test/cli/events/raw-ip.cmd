kmstat events -q --raw-ip -n 2 i386-6.1-slab-mono.dat
