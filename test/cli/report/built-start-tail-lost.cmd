kmstat report built-start-tail-lost.dat
