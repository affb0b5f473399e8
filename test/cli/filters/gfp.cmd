kmstat report --gfp __GFP_ACCOUNT -n 4 x86_64-6.18-slab4-wl.dat
