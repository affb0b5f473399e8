# The letter a makes a cache reclaimable.
printf 'vm_area_struct -> :A-0000192\nanon_vma -> :aA-0000208\nanon_vma_chain -> :a-0000064\n' >listing
kmstat leaks --json x86_64-6.18-slab4-wl.dat --cache 'anon_vma*,vm_area_struct' -n 0 >without
kmstat leaks --json x86_64-6.18-slab4-wl.dat --cache 'anon_vma*,vm_area_struct' -n 0 --slab-aliases listing >with
for file in without with; do
	python3 -c 'import json,sys
for row in json.load(sys.stdin)["candidates"]:
    print(row["cache"], row["verdict"], row["reason"])' <$file | sort | uniq -c
done
