kmstat leaks -F verdict,live_bytes,factors.spread,factors.traced_share,symbol -n 3 x86_64-6.12-gt-leaky.dat
