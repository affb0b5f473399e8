kmstat events --json -n 3 built-counter-clock.dat
