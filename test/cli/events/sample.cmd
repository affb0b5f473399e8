kmstat events -q --objects 64 --when-full sample x86_64-6.18-slab4-wl.dat >text
grep -m 4 "sampled out" text
kmstat events -q --objects 64 --when-full sample --json x86_64-6.18-slab4-wl.dat >json
grep -m 2 sampled_out json
