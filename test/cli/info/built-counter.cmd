kmstat info built-counter-clock.dat
