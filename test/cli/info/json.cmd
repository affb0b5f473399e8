kmstat info --json arm64-6.12-2buffers.dat
kmstat info --json x86_64-6.18-sched-only.dat
