kmstat report -n 6 x86_64-5.10-lost.dat
