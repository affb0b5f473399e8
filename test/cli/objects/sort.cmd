for key in allocated_bytes +age_ns ptr symbol,ptr -pid,cache; do
	kmstat objects --format csv -q -s $key -F ptr,symbol,cache,allocated_bytes,age_ns,pid -n 3 x86_64-6.18-slab4-wl.dat
done
