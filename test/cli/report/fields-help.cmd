kmstat report -F help
echo
kmstat report --by function,cache -F help | head -n 3
