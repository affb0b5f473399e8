head -c 1150000 x86_64-6.18-slab4-wl.dat >cut.dat
kmstat report -n 2 cut.dat; echo status $?
kmstat info cut.dat
kmstat report --format csv -n 1 -F symbol,live_is cut.dat
