kmstat report --format junit -q x86_64-5.10-lost.dat --fail-on 'live_bytes>100M' --fail-on 'total_allocated_bytes>1' --fail-on 'cache:a&b<"c">?:live_bytes>1' ; echo status $?
kmstat report --format junit -q x86_64-5.10-lost.dat --fail-on 'live_bytes>100M' --fail-on 'total_allocated_bytes>1' --fail-on 'cache:a&b"c?:live_bytes>1' ; echo status $?
