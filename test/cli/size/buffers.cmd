kmstat size -B all built-two-slab-buffers.dat
