kmstat leaks --time ,55% -n 3 x86_64-6.12-gt-leaky.dat
