# Solid: throughout; light: reached.
kmstat timeline x86_64-6.18-slab4-wl.dat
