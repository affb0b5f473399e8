# At the moments that slabinfo was read: what differs, with slab_debug, is what the trace can not tell.
kmstat report --json --time 27.2155,33.5015 --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,x86_64-6.12-gt-leaky.slabinfo-after x86_64-6.12-gt-leaky.dat |
	python3 -c 'import json,sys
s = json.load(sys.stdin)["slabinfo"]
print({key: s[key] for key in s if key != "caches"})
for c in s["caches"]:
    if not c["agrees"]:
        print(c["cache"], c["slabinfo_change_count"], c["trace_change_count"], c["difference_count"], c["cause"])'
