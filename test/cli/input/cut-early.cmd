head -c 5 x86_64-6.18-slab4-wl.dat >cut.dat; kmstat report -n 1 cut.dat; echo status $?
head -c 12 x86_64-6.18-slab4-wl.dat >cut.dat; kmstat report -n 1 cut.dat; echo status $?
head -c 100 x86_64-6.18-slab4-wl.dat >cut.dat; kmstat report -n 1 cut.dat; echo status $?
head -c 5000 x86_64-6.18-slab4-wl.dat >cut.dat; kmstat report -n 1 cut.dat; echo status $?
head -c 500000 x86_64-6.18-slab4-wl.dat >cut.dat; kmstat report -n 1 cut.dat; echo status $?
