a=built-compare-6.12.dat
printf '# what must hold\n\nlive_bytes>10M\n  function:sk_alloc:live_count>0\n' >rules
printf '%s\n' '# known' 'function:sk_* max=1K grows with the test' 'module:one' 'cache:nosuch* never there' >known
kmstat report $a --rules rules -n 1 | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
kmstat report $a --rules rules --suppress known -n 1 | sed '/^trace/,$d'; echo status ${PIPESTATUS[0]}
# Three times as much is over its max.
kmstat compare $a built-compare-6.12-sk3.dat --rules rules --suppress known --fail-on 'live_bytes>+1%' | sed '/^add/,$d'; echo status ${PIPESTATUS[0]}
kmstat report --json $a --rules rules --suppress known | sed -n '/"suppressions"/,/\]/p'
printf 'live_bytes>10M\nlive_bytes\n' >bad
kmstat report $a --rules bad; echo status $?
printf 'sk_*\n' >bad
kmstat report $a --rules rules --suppress bad; echo status $?
printf 'function:sk_* max=x\n' >bad
kmstat report $a --rules rules --suppress bad; echo status $?
kmstat report $a --rules nosuch; echo status $?
