kmstat leaks --objects 256 -n 3 x86_64-6.18-slab4-wl.dat
