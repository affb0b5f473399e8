kmstat report --json -n 1 built-counter-clock.dat
