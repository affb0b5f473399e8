# A comm can be anything, and must neither steer the terminal nor make bad JSON or CSV.
kmstat report --by comm -n 5 -B one built-two-slab-buffers.dat
kmstat objects -F ptr,comm -B one built-two-slab-buffers.dat
kmstat objects --format csv -F ptr,comm -B one built-two-slab-buffers.dat
kmstat events -q -B one built-two-slab-buffers.dat
kmstat objects --json -F ptr,comm -B one built-two-slab-buffers.dat | grep ptr
LC_ALL=C kmstat events -q -B one built-two-slab-buffers.dat | head -n 3 | cut -c 1-40
LC_ALL=C kmstat objects -F ptr,comm -B one built-two-slab-buffers.dat | grep 0x
