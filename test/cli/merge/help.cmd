kmstat merge --help
kmstat help merge | cmp - <(kmstat merge -h) && echo same
