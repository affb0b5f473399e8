kmstat --bogus; echo status $?
kmstat report --bogus; echo status $?
kmstat report -Z; echo status $?
kmstat report --forma=x x; echo status $?
kmstat report --format; echo status $?
kmstat report --format xml; echo status $?
kmstat report --json=1; echo status $?
kmstat report --no; echo status $?
kmstat report --ptr 1; echo status $?
kmstat events --detail; echo status $?
kmstat info --cache x; echo status $?
kmstat help nosuch; echo status $?
kmstat help report info; echo status $?
kmstat completion x; echo status $?
kmstat report -qvx; echo status $?
kmstat --; echo status $?
