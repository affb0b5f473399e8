# Between the marks: only what differs and the first that agree.
COLUMNS=160 kmstat report --time '@gt-leaky.before end,@gt-leaky.after begin' --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,x86_64-6.12-gt-leaky.slabinfo-after x86_64-6.12-gt-leaky.dat -n 45 | sed -n '/^Caches against/,/^$/p'
