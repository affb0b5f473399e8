# The events of one site three times: exactly that site, exactly that much, in each metric.
for metric in live peak allocated waste count survivors; do
	kmstat compare built-compare-6.12.dat built-compare-6.12-sk3.dat --metric $metric; echo status $?
done
kmstat compare built-compare-6.12-sk3.dat built-compare-6.12.dat
