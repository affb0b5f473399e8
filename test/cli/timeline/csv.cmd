kmstat timeline -q --format csv --points 8 x86_64-6.18-slab4-wl.dat
kmstat timeline -q --format csv --points 4 --by cache -n 3 x86_64-6.18-slab4-wl.dat
kmstat timeline -q --format csv --points 4 --by function,cpu -n 2 -F key.function,key.cpu,time_ns,peak_live_bytes x86_64-6.18-slab4-wl.dat
