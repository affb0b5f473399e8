kmstat size --json x86_64-5.10-lost.dat
