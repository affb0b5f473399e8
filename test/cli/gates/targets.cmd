kmstat report -q --json -n 1 x86_64-6.12-gt-leaky.dat --exit-zero --fail-on 'function:leak_kmalloc:live_count>0' \
	--fail-on 'site:leak_kmalloc:live_count>0' --fail-on 'cache:kmalloc-512:peak_live_bytes>1K' \
	--fail-on 'module:vmlinux:allocs_count>1' --fail-on 'site:0xffffffff00000000?:live_bytes>0' \
	--fail-on 'oldest_age_ns>1h' --fail-on 'function:nosuch?:live_count>0' | sed -n '/"verdict"/p; /"rules"/,/\]/p'
