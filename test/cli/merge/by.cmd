kmstat merge --by cache,module --format csv x86_64-6.12-gt-leaky.dat x86_64-6.18-slab4-wl.dat --function "*alloc*" | head -n 5 | cut -d, -f1-12
