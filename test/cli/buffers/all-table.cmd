kmstat report -B all -n 1 arm64-6.12-2buffers.dat
