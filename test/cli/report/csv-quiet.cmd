kmstat report --format csv -q -n 2 x86_64-6.18-slab4-wl.dat
