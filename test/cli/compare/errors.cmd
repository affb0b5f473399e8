a=x86_64-6.18-slab4-wl.dat
kmstat compare; echo status $?
kmstat compare $a; echo status $?
kmstat compare $a $a $a; echo status $?
kmstat compare --base $a; echo status $?
kmstat compare $a ""; echo status $?
kmstat compare $a nosuch.dat; echo status $?
kmstat compare $a --base-time 0,1; echo status $?
kmstat compare $a $a --base-time 0,1 --time 0,1; echo status $?
kmstat compare $a $a --ops 0; echo status $?
kmstat compare $a $a --ops 5 --per second; echo status $?
kmstat compare $a $a --per minute; echo status $?
kmstat compare $a $a --metric nosuch; echo status $?
kmstat compare $a $a --metric null_frees_count; echo status $?
kmstat compare $a $a --by nosuch; echo status $?
kmstat compare $a $a --by site,comm; echo status $?
kmstat compare $a $a --format junit; echo status $?
kmstat compare $a built-counter-clock.dat --per second; echo status $?
kmstat compare built-two-slab-buffers.dat $a; echo status $?
kmstat compare $a $a -o $a; echo status $?
# Other filters, rows left out, no report at all.
kmstat report --json --cache dentry $a >filtered.json
kmstat compare filtered.json $a; echo status $?
kmstat compare filtered.json $a --cache dentry >/dev/null; echo status $?
kmstat report --json -n 3 $a >cut.json
kmstat compare $a cut.json; echo status $?
kmstat compare filtered.json --base-time 0,1 --new-time 1,2; echo status $?
echo '{}' >other.json
kmstat compare other.json $a; echo status $?
