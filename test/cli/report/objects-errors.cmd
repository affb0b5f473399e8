kmstat report --objects 0 i386-6.1-slab-mono.dat; echo status $?
kmstat report --objects x i386-6.1-slab-mono.dat; echo status $?
kmstat report --objects 3G i386-6.1-slab-mono.dat; echo status $?
kmstat report --objects 1K --max-memory 1M i386-6.1-slab-mono.dat; echo status $?
kmstat report --max-memory 0 i386-6.1-slab-mono.dat; echo status $?
kmstat report --max-memory x i386-6.1-slab-mono.dat; echo status $?
