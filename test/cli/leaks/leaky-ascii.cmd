LC_ALL=C kmstat leaks -n 4 x86_64-6.12-gt-leaky.dat
