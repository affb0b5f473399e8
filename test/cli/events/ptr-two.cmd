kmstat events -q --ptr ffff888000001000 -B all built-two-slab-buffers.dat
