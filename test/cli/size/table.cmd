# Tables of 1024 and more objects, in one pass.
kmstat size x86_64-6.18-slab4-wl.dat
