kmstat compare x86_64-5.10-default.dat x86_64-6.12-gt-leaky.dat -n 12
