kmstat timeline -F symbol,picture,peak_time_ns -s -peak_time_ns -n 4 x86_64-6.18-slab4-wl.dat
kmstat timeline --fields help
kmstat timeline --fields help --format csv
kmstat timeline --fields help --format csv --by cache
