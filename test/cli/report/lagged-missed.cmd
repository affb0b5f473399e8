kmstat report -n 6 x86_64-6.18-lagged-missed.dat
