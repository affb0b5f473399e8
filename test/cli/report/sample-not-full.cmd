# Nothing is estimated.
kmstat report --when-full sample -n 5 x86_64-6.18-slab4-wl.dat
