kmstat report -B all --json -n 1 built-two-slab-buffers.dat | cut -c 1-120
