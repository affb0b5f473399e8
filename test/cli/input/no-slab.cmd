for command in report objects events; do
	kmstat $command x86_64-6.18-sched-only.dat; echo status $?
done
kmstat report --json x86_64-6.18-sched-only.dat; echo status $?
