kmstat leaks -n 4 x86_64-6.18-lost-discard16k.dat
