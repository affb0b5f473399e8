# One report: as it was, but for the lists that are not kept.
kmstat report --json x86_64-6.18-slab4-wl.dat >a.json
kmstat merge a.json >b.json
kmstat merge b.json | cmp - b.json && echo same
jq -S 'del(.health.cpus, .health.unmatched_sites, .overflow.episodes, .health.unmatched_caches)' a.json >x
jq -S 'del(.health.cpus, .health.unmatched_sites, .overflow.episodes, .health.unmatched_caches) | del(.health.warnings[].sources_count)' b.json | cmp - x && echo the rest is the same
