# What errors are of; what is dropped is of the whole.
kmstat size --cache "kmalloc-*" --time 10%,60% x86_64-6.18-slab4-wl.dat
kmstat size --cache nosuch x86_64-6.18-slab4-wl.dat
