kmstat events built-counter-clock.dat
