kmstat compare --help
kmstat help diff | cmp - <(kmstat compare --help) && echo the same
