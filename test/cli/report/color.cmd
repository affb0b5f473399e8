kmstat report --color=always -n 1 i386-6.1-slab-mono.dat | cat -v
kmstat report --color=sometimes i386-6.1-slab-mono.dat; echo status $?
