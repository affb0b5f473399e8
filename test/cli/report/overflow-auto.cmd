kmstat report --objects auto --max-memory 64K -n 2 x86_64-6.18-slab4-wl.dat
