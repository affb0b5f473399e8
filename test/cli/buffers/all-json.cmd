kmstat report -B all --json -n 1 arm64-6.12-2buffers.dat | cut -c 1-120
