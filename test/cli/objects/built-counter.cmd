kmstat objects --format csv built-counter-clock.dat
