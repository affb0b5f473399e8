kmstat leaks --module leaky x86_64-6.12-gt-leaky.dat
