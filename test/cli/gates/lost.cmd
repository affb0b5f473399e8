# Holes leave live numbers undecided and cumulative ones not; a lost start alone nothing.
a=x86_64-5.10-lost.dat
kmstat report $a -n 1 --fail-on 'live_bytes>100M' --fail-on 'total_allocated_bytes>100M' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat compare $a $a --fail-on 'live_bytes>+5%' --fail-on 'total_allocated_bytes>+5%' | sed -n '/^verdict/,/^add/p'; echo status ${PIPESTATUS[0]}
kmstat report x86_64-6.18-slab4-wl.dat --objects 256 -n 1 --fail-on 'live_bytes>1M' --fail-on 'allocs_count>1M' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
