kmstat objects --help
kmstat help objects | cmp - <(kmstat objects -h) && echo same
