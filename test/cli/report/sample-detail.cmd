kmstat report --objects 256 --when-full sample --function copy_process --detail x86_64-6.18-slab4-wl.dat
