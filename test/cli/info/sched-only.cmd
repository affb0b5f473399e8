kmstat info x86_64-6.18-sched-only.dat
