kmstat report --json --threads 1 x86_64-6.18-slab4-wl.dat | sha256sum | cut -c 1-8 >sum1
kmstat report --json --threads 2 x86_64-6.18-slab4-wl.dat | sha256sum | cut -c 1-8 >sum2
kmstat report --json --threads 5 x86_64-6.18-slab4-wl.dat | sha256sum | cut -c 1-8 >sum5
cmp sum1 sum2 && cmp sum1 sum5
kmstat report --threads 0 x86_64-6.18-slab4-wl.dat; echo status $?
