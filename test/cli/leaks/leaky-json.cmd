kmstat leaks --json -n 2 x86_64-6.12-gt-leaky.dat
