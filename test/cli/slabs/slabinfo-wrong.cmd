# Another machine's: sizes differ, and so does what is listed.
kmstat report --slabinfo x86_64-6.12-gt-leaky.slabinfo-before,x86_64-6.12-gt-leaky.slabinfo-after x86_64-6.18-slab4-wl.dat -n 4 | sed -n '/^Caches against/,/^$/p; /^slabinfo_sizes/p'
