# Passed, failed, undecided, and each exit status.
a=x86_64-6.12-gt-leaky.dat
kmstat report $a -n 1 --fail-on 'live_bytes>10M' --fail-on 'module:leaky:live_bytes>1M' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat report $a -n 1 --fail-on 'live_bytes>10M' --fail-on 'module:leaky:live_bytes>16K' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat report $a -n 1 --fail-on 'live_bytes>10M' --fail-on 'module:leaky:live_bytes>80K' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
# A failure wins over what is undecided.
kmstat report $a -n 1 --fail-on 'module:leaky:live_bytes>80K' --fail-on 'allocs_count>5' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat report $a -n 1 --fail-on 'allocs_count>5' --exit-zero | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
