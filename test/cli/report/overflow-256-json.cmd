kmstat report --objects 256 --json -n 2 x86_64-6.18-slab4-wl.dat | sed -n '/"totals"/,/}/p; /"sites"/,/]/p; /"overflow"/,/"episodes"/p'
