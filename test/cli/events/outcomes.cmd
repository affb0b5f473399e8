kmstat events -q --format csv -F event,outcome x86_64-6.12-gt-leaky.dat | sort | uniq -c
kmstat events -q --format csv --objects 256 -F event,outcome x86_64-6.18-slab4-wl.dat | sort | uniq -c
