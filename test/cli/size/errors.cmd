# One line on standard error, exit status 2.
kmstat size x86_64-6.18-sched-only.dat; echo $?
kmstat size --objects 64 x86_64-6.18-slab4-wl.dat; echo $?
kmstat size --when-full sample x86_64-6.18-slab4-wl.dat; echo $?
kmstat size --max-memory 64K x86_64-6.18-slab4-wl.dat; echo $?
kmstat report --when-full half x86_64-6.18-slab4-wl.dat; echo $?
