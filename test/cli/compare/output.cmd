# Where the output is no table, or is a file, what came of the rules is told all the same.
a=built-compare-6.12.dat b=built-compare-6.12-sk3.dat
kmstat compare $a $b --fail-on 'live_bytes>+5%' -o out.txt; echo status $?
head -n 3 out.txt
kmstat compare $a $b --fail-on 'live_bytes>+5%' --json -o out.json; echo status $?
kmstat compare $a $b --fail-on 'live_bytes>+5%' --json -q -o out.json; echo status $?
kmstat compare $a $b >/dev/full; echo status $?
