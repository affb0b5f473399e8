kmstat objects --json -n 2 x86_64-6.18-lost-discard16k.dat
