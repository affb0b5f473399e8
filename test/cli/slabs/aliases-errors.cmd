try()
{
	kmstat report --slab-aliases "$1" x86_64-6.18-slab4-wl.dat -n 1 --format csv -F symbol
	echo "status $?"
}
printf 'total 0\npid -> :0000192\nwhat is this\n' >bad
printf 'pid -> :0000192\npid -> :0000064\n' >twice
printf 'kmalloc-64\nnobody -> :0000192\n' >foreign
: >empty
try bad
try twice
try empty
try missing
try x86_64-6.18-slab4-wl.dat
try foreign
