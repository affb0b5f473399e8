cat >syms <<'END'
ffffffff81000000 T _text
ffffffff81234000 T only_function
ffffffff81235000 T _etext
END
kmstat report --kallsyms syms -n 3 x86_64-6.18-slab4-wl.dat
