kmstat events built-start-tail-lost.dat
