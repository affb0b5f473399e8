# Writing onto the recording would destroy it, by whatever name it goes.
cp i386-6.1-slab-mono.dat trace.dat
ln trace.dat other-name
ln -s trace.dat link
kmstat report -o trace.dat trace.dat; echo status $?
kmstat objects --json -o link trace.dat; echo status $?
kmstat events -o trace.dat; echo status $?
kmstat info -o other-name - <trace.dat; echo status $?
cmp trace.dat i386-6.1-slab-mono.dat && echo whole
kmstat report -q -o other trace.dat && head -n 1 other
