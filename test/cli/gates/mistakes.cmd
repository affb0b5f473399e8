a=built-compare-6.12.dat
for rule in 'live_bytes' 'cache:kmalloc-64:live_bytes' 'live_bytes>' 'live_bytes>x' 'live_bytes>5%' 'live_bytes>+5%' 'nosuch>1' \
	'live_bytes<1' 'live_bytes>=1' '>1' '' 'cache:live_bytes>1' 'nosuch:a:live_bytes>1' 'cache:nosuch:live_bytes>1' \
	'function:nosuch:live_count>0' 'site:sk_alloc+0x19:live_bytes>0' 'site:0x12:live_bytes>0' 'module:nosuch:live_bytes>0' \
	'cache:kmalloc-64:null_frees_count>1' 'oldest_age_ns>5M' 'live_bytes>1,2,3,4,5'; do
	kmstat report $a --fail-on "$rule"; echo status $?
done
kmstat report built-counter-clock.dat --fail-on 'oldest_age_ns>5s'; echo status $?
kmstat report $a --fail-on; echo status $?
kmstat report $a --format junit; echo status $?
kmstat report $a --suppress nosuch; echo status $?
kmstat objects $a --fail-on 'live_bytes>1'; echo status $?
