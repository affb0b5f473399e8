kmstat report --json built-two-slab-buffers.dat; echo status $?
kmstat report --format csv built-two-slab-buffers.dat; echo status $?
kmstat report -B all --format csv built-two-slab-buffers.dat; echo status $?
kmstat report -B nope --json built-two-slab-buffers.dat; echo status $?
kmstat objects --json built-two-slab-buffers.dat; echo status $?
kmstat events built-two-slab-buffers.dat; echo status $?
