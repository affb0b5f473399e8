for command in "report" "report --json" "report --format csv" "objects" "objects --json" "events" "events --json" info "info --json" --help --version completion "report -s help"; do
	case $command in --*|completion|*help) file=;; *) file=i386-6.1-slab-mono.dat ;; esac
	kmstat $command $file >/dev/full; echo "$command: status $?"
done
