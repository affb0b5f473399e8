# All fits into the smallest.
kmstat size built-counter-clock.dat
