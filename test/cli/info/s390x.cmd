kmstat info s390x-6.1-slab-mono.dat
