kmstat report -B slab -n 2 arm64-6.12-2buffers.dat
kmstat report -B top -n 2 i386-6.1-slab-mono.dat | head -n 2
