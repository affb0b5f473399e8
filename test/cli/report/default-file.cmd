ln -s i386-6.1-slab-mono.dat trace.dat
kmstat -n 2
kmstat report -n 2 | tail -n 3
