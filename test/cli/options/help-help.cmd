kmstat help --help
kmstat help help | cmp - <(kmstat help -h) && echo same
