# Any order, any tree, reports and traces in any mix: the same bytes.
a=x86_64-6.12-gt-leaky.dat b=x86_64-6.18-slab4-wl.dat c=s390x-6.1-slab-mono.dat d=built-start-tail-lost.dat
for x in a b c d; do kmstat report --json ${!x} >$x.json; done
kmstat merge $a $b $c $d >all
kmstat merge d.json c.json b.json a.json | cmp - all && echo same
kmstat merge a.json $c >ac.json
kmstat merge d.json b.json -o bd.json
kmstat merge bd.json ac.json | cmp - all && echo same
kmstat merge ac.json d.json | kmstat merge $b - | cmp - all && echo same
kmstat merge all | cmp - all && echo same
kmstat merge all -o all; echo status $?
