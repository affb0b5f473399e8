kmstat events -q --function vm_area_alloc -n 6 x86_64-6.18-slab4-wl.dat
