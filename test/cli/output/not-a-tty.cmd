# No pager and no colour where standard output is no terminal.
KMSTAT_PAGER=false PAGER=false kmstat report -n 1 i386-6.1-slab-mono.dat | head -n 1
