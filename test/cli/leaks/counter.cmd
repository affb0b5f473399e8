kmstat leaks built-counter-clock.dat
