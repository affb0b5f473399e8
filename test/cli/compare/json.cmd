kmstat compare --json built-compare-5.10.dat built-compare-6.12-sk3.dat --fail-on 'live_bytes>+5%,+1K' --fail-on 'module:leaky:live_bytes>+0'
