kmstat events --format csv -q -F time_ns,event,ptr,outcome -n 4 x86_64-6.18-slab4-wl.dat
kmstat events --json -q -F ptr,outcome -n 2 x86_64-6.18-slab4-wl.dat
