kmstat report --on-loss taint --json -n 1 x86_64-5.10-lost.dat | sed -n "/totals/,/}/{/live_/p; /reset/p}"
kmstat report --on-loss keep --json -n 1 x86_64-5.10-lost.dat | sed -n "/totals/,/}/{/live_/p; /reset/p}"
kmstat report --on-loss reset --json -n 1 x86_64-5.10-lost.dat | sed -n "/totals/,/}/{/live_/p; /reset/p}"
kmstat report --on-loss x x86_64-5.10-lost.dat; echo status $?
