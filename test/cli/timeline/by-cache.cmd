# Caches are named at their frees: the trace is read once for the names.
kmstat timeline --by cache -n 5 x86_64-6.12-gt-leaky.dat
