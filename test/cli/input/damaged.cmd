cp -L x86_64-6.18-slab4-wl.dat damaged.dat
head -c 20000 /dev/zero | dd of=damaged.dat bs=1 seek=1200000 conv=notrunc status=none
kmstat report -n 1 damaged.dat; echo status $?
