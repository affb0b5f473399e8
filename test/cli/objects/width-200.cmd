COLUMNS=200 kmstat objects -n 8 x86_64-6.18-slab4-wl.dat
