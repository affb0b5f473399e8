kmstat report --kallsyms missing i386-6.1-slab-mono.dat; echo status $?
: >empty
kmstat report --kallsyms empty -n 1 i386-6.1-slab-mono.dat | tail -n 4
echo garbage >garbage
kmstat report --kallsyms garbage -n 1 i386-6.1-slab-mono.dat | tail -n 4
