# One line on standard error, exit status 2.
kmstat timeline x86_64-6.18-sched-only.dat; echo $?
kmstat timeline --points 1 x86_64-6.18-slab4-wl.dat; echo $?
kmstat timeline --points 65537 x86_64-6.18-slab4-wl.dat; echo $?
kmstat timeline --points x x86_64-6.18-slab4-wl.dat; echo $?
kmstat timeline --fields nosuch x86_64-6.18-slab4-wl.dat; echo $?
kmstat timeline --format csv --fields symbol x86_64-6.18-slab4-wl.dat; echo $?
kmstat timeline --format markdown x86_64-6.18-slab4-wl.dat; echo $?
kmstat report --points 4 x86_64-6.18-slab4-wl.dat; echo $?
