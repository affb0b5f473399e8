kmstat report --help
kmstat help report | cmp - <(kmstat report -h) && echo same
