# Functions by their plain names, though one kernel has copies of them; of one name in two modules each by its own.
kmstat compare built-compare-5.10.dat built-compare-6.12-sk3.dat; echo status $?
kmstat compare --json built-compare-5.10.dat built-compare-6.12.dat | grep -o '"function":"[^"]*","module":[^,]*,"state":"same"'
