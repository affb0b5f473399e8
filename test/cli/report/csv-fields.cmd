kmstat report --format csv -F symbol,live_bytes,live_is,caches -n 5 i386-6.1-slab-mono.dat
