kmstat objects --objects 64 --when-full sample -n 5 x86_64-6.18-slab4-wl.dat
kmstat objects --objects 64 --when-full sample -n 3 --format csv -q x86_64-6.18-slab4-wl.dat
