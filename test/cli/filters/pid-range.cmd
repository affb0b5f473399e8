kmstat report --pid '14870-14879,!14877' -n 4 x86_64-6.18-slab4-wl.dat
