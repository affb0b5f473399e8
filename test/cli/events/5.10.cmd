kmstat events -n 4 x86_64-5.10-default.dat
