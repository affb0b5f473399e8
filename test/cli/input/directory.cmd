kmstat report .; echo status $?
