kmstat report -B pages arm64-6.12-2buffers.dat; echo status $?
kmstat report -B top arm64-6.12-2buffers.dat; echo status $?
kmstat report -B nope arm64-6.12-2buffers.dat; echo status $?
kmstat report -B '' arm64-6.12-2buffers.dat; echo status $?
