kmstat merge --json -n 2 x86_64-6.12-gt-leaky.dat x86_64-6.18-lagged-missed.dat
