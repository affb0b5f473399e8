kmstat completion --help
kmstat help completion | cmp - <(kmstat completion -h) && echo same
