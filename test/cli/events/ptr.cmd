kmstat events -q --ptr 0xffff8881cc8ef600 x86_64-6.18-slab4-wl.dat
kmstat events -q --ptr FFFF8881CC8EF600 x86_64-6.18-slab4-wl.dat | wc -l
kmstat events --ptr 1 x86_64-6.18-slab4-wl.dat
kmstat events --ptr zz x86_64-6.18-slab4-wl.dat; echo status $?
