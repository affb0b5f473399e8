kmstat report missing.dat; echo status $?
kmstat nosuchcommand; echo status $?
