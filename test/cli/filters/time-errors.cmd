kmstat report --time '10%' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time '50%,10%' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time 'x,' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time '1,2,3' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time '101%,' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time '@no such marker,' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time '+x,' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
kmstat report --time ',' -n 1 --format csv -q -F symbol x86_64-6.18-slab4-wl.dat; echo status $?
