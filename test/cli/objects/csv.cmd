kmstat objects --format csv -n 5 x86_64-6.18-slab4-wl.dat
