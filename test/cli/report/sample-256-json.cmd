kmstat report --objects 256 --when-full sample -n 3 --json x86_64-6.18-slab4-wl.dat
