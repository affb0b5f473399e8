kmstat events -q -n 4 arm64-6.12-perf-slab-z.data
kmstat events -q --json -n 2 arm64-6.12-perf-slab-z.data
