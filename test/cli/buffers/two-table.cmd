kmstat report -n 2 built-two-slab-buffers.dat
