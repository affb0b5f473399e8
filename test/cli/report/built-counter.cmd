kmstat report built-counter-clock.dat
