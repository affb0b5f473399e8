# Where --max-memory is reached.
kmstat report --max-memory 64K --when-full sample -n 5 x86_64-6.18-slab4-wl.dat
