kmstat report -o out --format csv -q -F symbol,live_bytes -n 2 i386-6.1-slab-mono.dat
cat out
kmstat report -o - --format csv -q -F symbol,live_bytes -n 1 i386-6.1-slab-mono.dat
kmstat report -o nowhere/out i386-6.1-slab-mono.dat; echo status $?
kmstat report -o /dev/full i386-6.1-slab-mono.dat; echo status $?
