# People see how many names there are, machines which; the name stays.
COLUMNS=110 kmstat report --slab-aliases x86_64-6.18.slab-aliases x86_64-6.18-slab4-wl.dat -n 8 | grep -n '(+'
COLUMNS=110 kmstat objects --slab-aliases x86_64-6.18.slab-aliases x86_64-6.18-slab4-wl.dat --cache pid -n 2 | grep '(+'
COLUMNS=200 kmstat leaks --slab-aliases x86_64-6.18.slab-aliases x86_64-6.18-slab4-wl.dat -n 0 | grep '(+'
for command in report objects leaks; do
	kmstat $command --json --slab-aliases x86_64-6.18.slab-aliases x86_64-6.18-slab4-wl.dat --cache pid,signal_cache |
		python3 -c 'import json,sys
d = json.load(sys.stdin)
for row in d.get("caches") or d.get("objects", [])[:1] or d["candidates"]:
    print({key: row[key] for key in ("name", "cache", "aliases") if key in row})'
done
kmstat report --slab-aliases x86_64-6.18.slab-aliases x86_64-6.18-slab4-wl.dat --cache 'pid' --fail-on 'cache:pid:live_count>0' --format csv -q -F symbol,live_count
