kmstat compare built-compare-6.12.dat built-compare-6.12-sk3.dat --ops 10; echo status $?
kmstat compare built-compare-6.12.dat built-compare-6.12-sk3.dat --ops 10,30 --metric count; echo status $?
