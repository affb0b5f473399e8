for key in live_count +symbol -symbol peak_live_bytes +total_allocated_bytes lifetime_ns.p99 oldest_age_ns module,-live_bytes caches; do
	kmstat report --format csv -q -s $key -F symbol,live_bytes,live_count,peak_live_bytes,lifetime_ns.p99 -n 3 x86_64-6.12-gt-leaky.dat
done
