echo '10%,50%'; kmstat report --time 10%,50% --format csv -q -n 2 -F symbol,allocs_count,live_bytes,oldest_age_ns x86_64-6.18-slab4-wl.dat
echo ',50%'; kmstat report --time ,50% --format csv -q -n 2 -F symbol,allocs_count,live_bytes,oldest_age_ns x86_64-6.18-slab4-wl.dat
echo '50%,'; kmstat report --time 50%, --format csv -q -n 2 -F symbol,allocs_count,live_bytes,oldest_age_ns x86_64-6.18-slab4-wl.dat
echo '+0.01,+0.05'; kmstat report --time +0.01,+0.05 --format csv -q -n 2 -F symbol,allocs_count,live_bytes,oldest_age_ns x86_64-6.18-slab4-wl.dat
echo '2487.53,2487.55'; kmstat report --time 2487.53,2487.55 --format csv -q -n 2 -F symbol,allocs_count,live_bytes,oldest_age_ns x86_64-6.18-slab4-wl.dat
echo '+0,+0.001'; kmstat report --time +0,+0.001 --format csv -q -n 2 -F symbol,allocs_count,live_bytes,oldest_age_ns x86_64-6.18-slab4-wl.dat
kmstat report --time 10%,50% -n 2 x86_64-6.18-slab4-wl.dat
