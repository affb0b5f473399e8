printf PERFILE2 >short; kmstat report short; echo status $?
head -c 50000 arm64-6.12-perf-slab-z.data >cut.data; kmstat report -n 1 cut.data; echo status $?
