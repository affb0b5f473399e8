kmstat report -n 4 arm64-6.12-perf-slab-z.data
