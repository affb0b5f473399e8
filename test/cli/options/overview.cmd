kmstat --help
kmstat -h | cmp - <(kmstat help) && echo same
