kmstat report -n 0 arm64-6.12-2buffers.dat | grep -c +0x
kmstat report -n 1 arm64-6.12-2buffers.dat | grep -c +0x
kmstat report -l 2 arm64-6.12-2buffers.dat | grep -c +0x
kmstat report --json -n 1K arm64-6.12-2buffers.dat | grep truncated
kmstat report --json -n 1 arm64-6.12-2buffers.dat | grep truncated
