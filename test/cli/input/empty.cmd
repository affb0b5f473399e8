: >empty
for command in report objects events info; do
	kmstat $command empty; echo status $?
done
