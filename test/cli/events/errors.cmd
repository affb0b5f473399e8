kmstat events -F ptr x86_64-6.18-slab4-wl.dat; echo status $?
kmstat events --json -F foo x86_64-6.18-slab4-wl.dat; echo status $?
kmstat events -s ptr x86_64-6.18-slab4-wl.dat; echo status $?
kmstat events --by cache x86_64-6.18-slab4-wl.dat; echo status $?
kmstat events -n x x86_64-6.18-slab4-wl.dat; echo status $?
