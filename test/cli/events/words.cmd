# One line of each outcome.
kmstat events -q x86_64-6.12-gt-leaky.dat >lines
for word in "tracked$" "matched " "implied free" "doubled" "failed" "unmatched" "null,"; do
	grep -m 1 -e "-> .*$word" lines
done
kmstat events -q --objects 256 x86_64-6.18-slab4-wl.dat >lines
grep -m 1 overflowed lines
