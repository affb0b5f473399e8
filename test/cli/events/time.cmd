kmstat events -q --time 50%,50.2% x86_64-6.18-slab4-wl.dat | head -n 8
