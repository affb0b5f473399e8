kmstat report --by function,cache -n 12 x86_64-6.18-slab4-wl.dat
