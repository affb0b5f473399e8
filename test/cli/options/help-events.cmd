kmstat events --help
kmstat help events | cmp - <(kmstat events -h) && echo same
