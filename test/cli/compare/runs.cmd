# Text recordings with some noise: fn_a grows by more than noise, fn_b does not, fn_c never varies.
run()
{
	awk -v a=$2 -v b=$3 'BEGIN {
		split(a " " b " 4", live)
		for (f = 1; f <= 3; f++)
			for (i = 0; i < live[f] + 2; i++) {
				t++
				ptr = sprintf("ffff8880%08x", t * 4096)
				fn = "fn_" substr("abc", f, 1) "+0x10/0x20"
				printf "work-1 [000] ..... %d.%06d: kmalloc: call_site=%s ptr=%s bytes_req=64 bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1 accounted=false\n", 1 + t / 100, t, fn, ptr
				if (i >= live[f])
					printf "work-1 [000] ..... %d.%06d: kfree: call_site=%s ptr=%s\n", 1 + t / 100, t, fn, ptr
			}
	}' >$1
}
n=0
for values in "10 20" "12 25" "11 15" "13 30" "12 22"; do run base$((++n)).txt $values; done
n=0
for values in "30 21" "31 26" "29 14" "35 32" "32 23"; do run new$((++n)).txt $values; done
kmstat compare --base base1.txt --base base2.txt --base base3.txt --base base4.txt --base base5.txt new?.txt \
	--metric survivors --fail-on 'function:fn_a:live_count>+5%' --fail-on 'function:fn_b:live_count>+1%'; echo status $?
# Three a side: nothing is marked, and no relative rule is decided.
kmstat compare --base base1.txt --base base2.txt --base base3.txt new[123].txt --metric survivors \
	--fail-on 'function:fn_a:live_count>+5%' --fail-on 'function:fn_a:live_count>5'; echo status $?
# Four a side: too few for one of many rows, and that is said.
kmstat compare --json --base base1.txt --base base2.txt --base base3.txt --base base4.txt new[1234].txt |
	sed -n '/"test"/,/}/p; /"warnings"/,/\]/p'
