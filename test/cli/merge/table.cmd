kmstat merge --format table -n 5 x86_64-6.12-gt-leaky.dat x86_64-6.18-slab4-wl.dat x86_64-5.10-lost.dat
