kmstat report -B one -n 2 built-two-slab-buffers.dat | head -n 4
kmstat events -q -B two built-two-slab-buffers.dat
kmstat events -q -B all built-two-slab-buffers.dat
kmstat info built-two-slab-buffers.dat
