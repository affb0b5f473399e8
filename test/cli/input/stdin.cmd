kmstat report -n 1 - <i386-6.1-slab-mono.dat; echo status $?
cat i386-6.1-slab-mono.dat | kmstat report -n 1 -; echo status $?
