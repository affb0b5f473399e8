kmstat objects -s live_bytes x86_64-6.18-slab4-wl.dat; echo status $?
kmstat objects -F foo x86_64-6.18-slab4-wl.dat; echo status $?
kmstat objects --by cache x86_64-6.18-slab4-wl.dat; echo status $?
kmstat objects --detail x86_64-6.18-slab4-wl.dat; echo status $?
