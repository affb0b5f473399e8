kmstat info --help
kmstat help info | cmp - <(kmstat info -h) && echo same
