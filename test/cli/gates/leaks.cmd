# Verdicts are numbers for rules: of the whole, of sites, functions and modules.
a=x86_64-6.12-gt-leaky.dat
kmstat leaks $a -n 1 --fail-on 'leaks_count>0' --fail-on 'leaks_bytes>1M' --fail-on 'function:leak_kmalloc:leaks_count>11' \
	--fail-on 'module:leaky:leaks_count>51' --fail-on 'function:kmem_cache_alloc?:leaks_bytes>0' | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat leaks $a --fail-on 'cache:filp:leaks_count>0'; echo status $?
echo 'function:leak_* known since ever' >known
kmstat leaks $a -n 1 --fail-on 'leaks_count>0' --suppress known | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat leaks $a --format junit --fail-on 'leaks_count>0' --exit-zero; echo status $?
# Saved, merged and compared they are the same.
kmstat report -q --json $a >saved.json
kmstat report -q --json x86_64-6.18-slab4-wl.dat --fail-on 'leaks_count>0' >other.json; echo status $?
kmstat compare other.json saved.json --fail-on 'leaks_count>+0' | sed -n '/^verdict/,/^$/p;/^Rules/,/^$/p'; echo status ${PIPESTATUS[0]}
kmstat merge other.json saved.json >both.json
kmstat compare both.json saved.json --fail-on 'leaks_count>51' --fail-on 'leaks_bytes>+0' | sed -n '/^Rules/,/^$/p'; echo status ${PIPESTATUS[0]}
# Without them nothing is judged.
sed 's/"leaks_/"gone_/' saved.json >older.json
kmstat compare older.json saved.json --fail-on 'live_bytes>+1%'  >/dev/null; echo status $?
kmstat compare older.json saved.json --fail-on 'leaks_count>100'; echo status $?
kmstat merge older.json other.json >both.json
kmstat compare both.json saved.json --fail-on 'leaks_count>100'; echo status $?
# What is lost may hide them, what is found is found.
kmstat leaks --json x86_64-5.10-lost.dat --fail-on 'leaks_count>0' >/dev/null; echo status $?
kmstat leaks --json -q $a --objects 256 --fail-on 'leaks_count>5000' --fail-on 'module:leaky:leaks_count>0' >/dev/null; echo status $?
