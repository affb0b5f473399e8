kmstat info built-start-tail-lost.dat
