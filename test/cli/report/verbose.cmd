kmstat report -v -n 1 s390x-6.1-slab-mono.dat | tail -n 8
