# Every object that the module says it still holds is in the table, at that function and of that size.
kmstat objects -q --format csv -F ptr,function,requested_bytes x86_64-6.12-gt-leaky.dat | tail -n +2 | sort >found
sed -n 's/.*LIVE site=\([^ ]*\) ptr=\([^ ]*\) req=\([0-9]*\).*/0x\2,\1,\3/p' x86_64-6.12-gt-leaky.live | sort >wanted
echo "wanted $(wc -l <wanted), found $(comm -12 wanted found | wc -l)"
comm -23 wanted found
kmstat objects -q --format csv -F ptr --function ok_kfree_of_cache,ok_krealloc,ok_kvmalloc x86_64-6.12-gt-leaky.dat | wc -l
