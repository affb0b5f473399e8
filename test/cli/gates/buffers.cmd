# Each buffer is judged; the worst of them is the exit status.
kmstat report -B all --json built-two-slab-buffers.dat --fail-on 'live_bytes>2000' -q | grep -E '"(verdict|buffer)"|"rule"'; echo status ${PIPESTATUS[0]}
kmstat report -B all --format junit built-two-slab-buffers.dat --fail-on 'live_bytes>2000'; echo status $?
