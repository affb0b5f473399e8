kmstat report --time +0.01,50% --json -n 1 x86_64-6.18-slab4-wl.dat | sed -n '/"filters"/,/}/p'
