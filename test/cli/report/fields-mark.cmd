kmstat report -F symbol,live_bytes -n 5 x86_64-6.18-slab4-wl.dat | grep -A 6 ^Call
