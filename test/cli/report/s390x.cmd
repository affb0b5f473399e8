kmstat report -n 6 s390x-6.1-slab-mono.dat
