# A table that samples when it is full.
kmstat report --objects 256 --when-full sample x86_64-6.18-slab4-wl.dat
