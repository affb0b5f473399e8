# No terminal is too narrow, and one interval is a chart.
COLUMNS=30 kmstat timeline --points 2 -n 2 built-counter-clock.dat
COLUMNS=400 kmstat timeline --cache nosuch x86_64-6.18-slab4-wl.dat
