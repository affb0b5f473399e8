kmstat timeline -B all -n 1 built-two-slab-buffers.dat
