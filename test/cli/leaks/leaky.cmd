kmstat leaks x86_64-6.12-gt-leaky.dat
