# The same recording: all zero, whatever it is read from.
a=x86_64-6.18-slab4-wl.dat
kmstat report --json $a >a.json
for sides in "$a $a" "a.json $a" "$a a.json" "a.json a.json"; do
	kmstat compare $sides --fail-on 'live_bytes>+0' --fail-on 'peak_live_bytes>+0%'; echo status $?
done
# A perf.data too.
kmstat diff arm64-6.12-perf-slab-z.data arm64-6.12-perf-slab-z.data | tail -n 5
