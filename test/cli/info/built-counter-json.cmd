kmstat info --json built-counter-clock.dat
