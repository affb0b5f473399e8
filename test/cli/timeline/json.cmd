kmstat timeline --json --points 6 -n 2 --time 40%,60% x86_64-6.18-slab4-wl.dat
