kmstat report --function 'copy_process,mm_alloc' -n 4 x86_64-6.18-slab4-wl.dat
