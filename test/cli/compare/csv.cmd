kmstat compare --format csv built-compare-5.10.dat built-compare-6.12-sk3.dat --fail-on 'live_bytes>+5%'
