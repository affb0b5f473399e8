COLUMNS=200 kmstat report --by function,comm -n 5 x86_64-6.18-slab4-wl.dat
