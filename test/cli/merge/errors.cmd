leaky=x86_64-6.12-gt-leaky.dat wl=x86_64-6.18-slab4-wl.dat
kmstat merge; echo status $?
kmstat merge nosuch.json; echo status $?
kmstat merge ""; echo status $?
kmstat report --json -n 1 $wl >cut.json
kmstat merge cut.json; echo status $?
kmstat report --json --fields symbol $wl >fields.json
kmstat merge fields.json; echo status $?
kmstat report --json --cache 'kmalloc-*' $wl >filtered.json
kmstat merge filtered.json $leaky; echo status $?
kmstat report --json --by comm $wl >by.json
kmstat merge by.json $leaky; echo status $?
kmstat merge $wl built-counter-clock.dat; echo status $?
kmstat merge $wl $wl; echo status $?
cp $wl other-name.dat
kmstat merge $wl other-name.dat; echo status $?
kmstat info --json $wl >info.json
kmstat merge info.json; echo status $?
kmstat report --json -B all built-two-slab-buffers.dat >buffers.json
kmstat merge buffers.json; echo status $?
kmstat merge built-two-slab-buffers.dat; echo status $?
kmstat merge -B all built-two-slab-buffers.dat; echo status $?
kmstat merge -B one built-two-slab-buffers.dat | grep -c '"buffer":"one"'
kmstat merge x86_64-6.18-sched-only.dat; echo status $?
head -c 5000 by.json >short.json
kmstat merge short.json; echo status $?
echo '{"schema": "kmstat.report", "schema_version": 2}' >newer.json
kmstat merge newer.json; echo status $?
echo '{"a": 1}' >other.json
kmstat merge other.json; echo status $?
kmstat merge --sort live_bytes $wl; echo status $?
kmstat merge $wl -o /nonexistent/x; echo status $?
