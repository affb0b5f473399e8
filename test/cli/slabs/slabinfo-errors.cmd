try()
{
	kmstat report "$@" x86_64-6.12-gt-leaky.dat
	echo "status $?"
}
printf 'slabinfo - version: 2.0\n' >old
printf 'slabinfo - version: 2.1\n# name\npid 1 2 x 4 5\n' >bad
: >empty
try --slabinfo old
try --slabinfo bad
try --slabinfo empty
try --slabinfo missing
try --slabinfo x86_64-6.12-gt-leaky.dat
try --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,bad
try --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,
try --slabinfo a,b,c
try --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,x86_64-6.12-gt-leaky.slabinfo-after --when-full sample
kmstat leaks --slabinfo old x86_64-6.12-gt-leaky.dat
