[ "$(id -u)" != 0 ] || { echo "root may read everything" >&2; exit 77; }
cp i386-6.1-slab-mono.dat secret.dat
chmod 000 secret.dat
kmstat report secret.dat; echo status $?
