kmstat report --min-size 4K -n 4 x86_64-6.18-slab4-wl.dat
