# Loss, overflow, other kinds of events, no symbols, other durations.
kmstat compare x86_64-5.10-lost.dat x86_64-5.10-default.dat -n 1 | sed -n '/^Doubts/,$p'
kmstat compare x86_64-6.18-slab4-wl.dat x86_64-6.18-slab4-wl.dat --objects 256 -n 1 | sed -n '/^Doubts/,$p'
kmstat compare built-counter-clock.dat x86_64-6.18-slab4-wl.dat -n 1 | sed -n '/^Doubts/,$p'
