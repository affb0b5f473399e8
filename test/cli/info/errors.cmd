kmstat info --by cache x86_64-6.18-slab4-wl.dat; echo status $?
kmstat info; echo status $?
