kmstat objects -s help
echo
kmstat objects -F help | head -n 2
