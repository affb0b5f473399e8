kmstat report --reorder-window 0 --json -n 1 x86_64-5.10-lost.dat | grep reordered
kmstat report --reorder-window 1ms --json -n 1 x86_64-5.10-lost.dat | grep reordered
kmstat report --reorder-window x x86_64-5.10-lost.dat; echo status $?
