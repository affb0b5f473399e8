COLUMNS=200 kmstat leaks -n 12 x86_64-6.12-gt-leaky.dat
