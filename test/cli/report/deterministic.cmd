kmstat report --json x86_64-6.12-gt-leaky.dat >one
kmstat report --json x86_64-6.12-gt-leaky.dat >two
cmp one two && echo same
