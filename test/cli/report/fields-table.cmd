kmstat report -F symbol,live_bytes,live_is,matched_frees_count,caches -n 5 x86_64-6.18-slab4-wl.dat
