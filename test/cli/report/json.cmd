kmstat report --json -n 1 x86_64-6.18-lost-discard16k.dat
