kmstat report --format markdown built-compare-6.12.dat --fail-on 'live_bytes>10M'; echo status $?
