echo hello >text; kmstat report text; echo status $?
head -c 5000 /dev/zero >zeros; kmstat report zeros; echo status $?
printf '\037\213\010' >x.gz; kmstat report x.gz; echo status $?
kmstat report --json -n 1 i386-6.1-slab-mono.dat >x.json; kmstat report x.json; echo status $?
kmstat report bin/kmstat; echo status $?
