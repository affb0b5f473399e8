kmstat report --json -n 1 built-start-tail-lost.dat
