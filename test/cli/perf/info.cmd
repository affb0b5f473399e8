kmstat info arm64-6.12-perf-slab-z.data
kmstat info --json arm64-6.12-perf-slab-z.data
