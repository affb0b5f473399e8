a=x86_64-6.18-slab4-wl.dat
kmstat compare $a --base-time 0%,50% --new-time 50%, -n 4; echo status $?
kmstat compare $a --base-time 0%,50% --new-time 50%, -n 4 --per second --metric count; echo status $?
kmstat compare $a --base-time +0,+0.02 --new-time +0.02,+0.04 --per event -n 2 | sed -n 3,9p
