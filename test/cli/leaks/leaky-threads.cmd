kmstat leaks --json --threads 1 x86_64-6.12-gt-leaky.dat >one && kmstat leaks --json --threads 3 x86_64-6.12-gt-leaky.dat >three && cmp one three
