COLUMNS=80 kmstat report x86_64-6.18-slab4-wl.dat
