kmstat events -q --cache 'maple*' --time +0.01,+0.02 -n 5 x86_64-6.18-slab4-wl.dat
