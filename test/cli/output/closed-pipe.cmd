# The reader goes first: what was not taken is an error, not the end.
for command in "report --json" "objects --json" "report --format csv --by site,comm,pid,cpu" "events" "events --json" "events --format csv" "report -n 0 --by site,pid,cpu"; do
	{ kmstat $command -q x86_64-6.12-gt-leaky.dat; echo "status $?" >&2; } | :
	wait
done
