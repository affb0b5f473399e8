kmstat report --format json -n 1 x86_64-5.10-lost.dat
