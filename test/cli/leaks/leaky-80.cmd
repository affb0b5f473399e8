COLUMNS=80 kmstat leaks -n 6 x86_64-6.12-gt-leaky.dat
