kmstat report --detail x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --detail --by cache --site x x86_64-6.18-slab4-wl.dat; echo status $?
