kmstat events -n 4 s390x-6.1-slab-mono.dat
