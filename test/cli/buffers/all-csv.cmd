kmstat report -B all --format csv -q -n 1 -F symbol,live_bytes arm64-6.12-2buffers.dat
