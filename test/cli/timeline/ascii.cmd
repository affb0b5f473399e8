# Losses are marked, in letters and 80 columns; it overflows too.
LC_ALL=C COLUMNS=80 kmstat timeline --objects 256 -n 3 x86_64-6.18-lagged-missed.dat
