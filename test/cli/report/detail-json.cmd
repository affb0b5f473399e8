kmstat report --detail --site leak_kmalloc.isra.0+0x1e* --json -n 3 x86_64-6.12-gt-leaky.dat
