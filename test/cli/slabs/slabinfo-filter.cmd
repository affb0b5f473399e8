# Filters choose rows of the report, not what is compared.
for cache in '*' leaky_obj; do
	kmstat report --json --time '@gt-leaky.before end,@gt-leaky.after begin' --cache "$cache" --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,x86_64-6.12-gt-leaky.slabinfo-after x86_64-6.12-gt-leaky.dat |
		python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin)["slabinfo"]))' | md5sum
done
