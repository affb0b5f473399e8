kmstat objects -n 0 arm64-6.12-2buffers.dat | grep -c 0x
kmstat objects arm64-6.12-2buffers.dat | tail -n 6
kmstat objects --json -n 1 arm64-6.12-2buffers.dat | grep truncated
