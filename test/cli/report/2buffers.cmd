kmstat report -n 6 arm64-6.12-2buffers.dat
