kmstat report --by foo x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --by function,,cache x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --by function,function x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --by site,module,function,cache,comm,pid,cpu,node,gfp,size x86_64-6.18-slab4-wl.dat; echo status $?
