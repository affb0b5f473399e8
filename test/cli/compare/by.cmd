for by in function module cache comm function,cache; do
	kmstat compare --by $by built-compare-5.10.dat built-compare-6.12-sk3.dat | sed -n '/^add/,/^Total/p'
done
