kmstat objects --format csv built-start-tail-lost.dat
