kmstat leaks -q --format csv -n 3 x86_64-6.12-gt-leaky.dat
