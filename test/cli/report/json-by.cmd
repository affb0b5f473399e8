kmstat report --json --by cache -n 2 -F key.cache,live_bytes,live_is x86_64-6.18-slab4-wl.dat | grep -A 4 '"groups"'
