# One copy: what there should be at the end.
COLUMNS=120 kmstat report --time '@gt-leaky.before end,' --slabinfo x86_64-6.12-gt-leaky.slabinfo-before x86_64-6.12-gt-leaky.dat -n 5 | sed -n '/^Caches against/,/^$/p'
