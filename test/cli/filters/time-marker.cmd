kmstat report -B one --time "@phase two," --format csv -q -F symbol,live_bytes built-two-slab-buffers.dat
kmstat report -B one --time ",@phase two" --format csv -q -F symbol,live_bytes built-two-slab-buffers.dat
kmstat report -B two --time "@phase two," built-two-slab-buffers.dat; echo status $?
