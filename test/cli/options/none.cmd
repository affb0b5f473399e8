kmstat; echo status $?
