kmstat report --objects 256 --when-full sample -n 5 -F live_bytes,live_error_bytes,sample.live_bytes,sample.purged_count,symbol x86_64-6.18-slab4-wl.dat
# Without a sample there is no error.
kmstat report -n 3 -F live_bytes,live_error_bytes,sample.purged_count,symbol --format csv -q x86_64-6.18-slab4-wl.dat
