# perf.data is the default where there is no trace.dat.
ln -s arm64-6.12-perf-slab-z.data perf.data
kmstat -n 1 | head -n 2
