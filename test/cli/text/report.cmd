cat >log <<'END'
# tracer: nop
#
          insmod-1157  [000] .....    31.720715: kmalloc: call_site=leak_kmalloc+0x1e/0x50 [leaky] ptr=00000000aa11bb01 bytes_req=200 bytes_alloc=256 gfp_flags=GFP_KERNEL node=-1 accounted=false
          insmod-1157  [000] .....    31.720800: kmalloc: call_site=ok_kmalloc+0x1e/0x50 [leaky] ptr=00000000aa11bb02 bytes_req=60 bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1 accounted=false
          insmod-1157  [001] .....    31.720900: kfree: call_site=ok_kmalloc+0x36/0x50 [leaky] ptr=00000000aa11bb02
CPU:1 [LOST 1234 EVENTS]
          <idle>-0     [001] ..s1.    31.721000: kmem_cache_free: call_site=rcu_do_batch+0x1b7/0x500 ptr=00000000aa11bb03 name=filp
END
kmstat report log
kmstat events -q log
kmstat info log
