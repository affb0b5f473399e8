#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record.sh: records a large trace of this machine's memory allocations, to measure with.  It goes through tracefs and
# `trace-cmd extract`, which works where `trace-cmd record` may not, because it never touches the function tracer.
set -euo pipefail

usage() {
	cat <<'END'
Usage: record.sh [OPTION...] [-- COMMAND [ARGUMENT...]]

Records the kmem events of every CPU into a trace.dat while COMMAND runs, or a built-in mixed load if none is given.

  -o FILE     write FILE (default /var/tmp/kmstat-bench.dat)
  -t SECONDS  how long the built-in load runs (default 40: some 20 to 30 million events on two CPUs)
  -s KIB      ring buffer for each CPU (default 1500000, or less if the memory does not allow it)
  -c CLOCK    trace clock (default global)
  -e EVENTS   events, separated by blanks (default kmem)
  -z NAME     compression: zstd, zlib or none (default: trace-cmd's)
  -f          record although someone else seems to be tracing; their trace is lost
  -h          this text

Needs root.  The settings of tracefs are put back at the end; what was in the ring buffer is lost.
END
}

die() {
	echo "record.sh: $*" >&2
	exit 1
}

out=/var/tmp/kmstat-bench.dat seconds=40 size_kb='' clock=global events=kmem compression='' force=''
while getopts o:t:s:c:e:z:fh option; do
	case $option in
	o) out=$OPTARG ;;
	t) seconds=$OPTARG ;;
	s) size_kb=$OPTARG ;;
	c) clock=$OPTARG ;;
	e) events=$OPTARG ;;
	z) compression=$OPTARG ;;
	f) force=1 ;;
	h)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
done
shift $((OPTIND - 1))

[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "-t '$seconds' is not a number of seconds"
[[ ${size_kb:-1} =~ ^[1-9][0-9]*$ ]] || die "-s '$size_kb' is not a number of KiB"
[ "$(id -u)" -eq 0 ] || die "only root can trace the kernel; run it with sudo"
command -v trace-cmd >/dev/null || die "trace-cmd was not found; install it"
out_dir=$(dirname -- "$out")
if [ ! -d "$out_dir" ] || [ ! -w "$out_dir" ]; then
	die "cannot write into $out_dir"
fi

tracefs=/sys/kernel/tracing mounted=''
if [ ! -d $tracefs/events ]; then
	mount -t tracefs nodev $tracefs 2>/dev/null || die "there is no tracefs at $tracefs and it cannot be mounted"
	mounted=1
fi

put() { # FILE TEXT: one setting of tracefs
	printf '%s\n' "$2" >"$tracefs/$1" || die "cannot set $1 to '$2'"
}

if [ -z "$force" ]; then
	[ "$(cat $tracefs/current_tracer)" = nop ] || die "a tracer is running; stop it, or give -f"
	[ -z "$(cat $tracefs/set_event)" ] || die "events are being traced already; stop that, or give -f"
fi

# A CPU's size, or the one it will have at first use: "7 (expanded: 1408)".
cpu_size() {
	sed 's/.*expanded: //; s/)//' "$1"
}

old_clock=$(sed 's/.*\[\(.*\)\].*/\1/' $tracefs/trace_clock)
old_overwrite=$(cat $tracefs/options/overwrite)
old_stacktrace=$(cat $tracefs/options/stacktrace)
old_on=$(cat $tracefs/tracing_on)
declare -A old_size
for file in "$tracefs"/per_cpu/cpu*/buffer_size_kb; do
	old_size[$file]=$(cpu_size "$file")
done

scratch=$(mktemp -d)
workers=()
restore() {
	trap '' INT TERM HUP # a second signal must not cut this short
	set +e
	exec 2>/dev/null
	for pid in "${workers[@]}"; do
		kill -- "-$pid" # with all that it runs
	done
	wait
	echo >$tracefs/set_event
	echo 0 >$tracefs/tracing_on
	echo >$tracefs/trace
	for file in "${!old_size[@]}"; do
		echo "${old_size[$file]}" >"$file"
	done
	echo "$old_clock" >$tracefs/trace_clock
	echo "$old_overwrite" >$tracefs/options/overwrite
	echo "$old_stacktrace" >$tracefs/options/stacktrace
	echo "$old_on" >$tracefs/tracing_on
	[ -z "$mounted" ] || umount $tracefs
	rm -rf "$scratch"
}
trap restore EXIT
trap 'trap "" INT TERM HUP; exit 130' INT
trap 'trap "" INT TERM HUP; exit 143' TERM HUP

# One worker of the load: file trees, many small processes, a compiler if there is one, pipes.
worker() { # NUMBER
	local dir=$scratch/$1 end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		mkdir -p "$dir"
		cp -r /usr/share/doc/lib[a-m]* "$dir" || true
		find "$dir" -type f -print0 | xargs -0 cat || true
		rm -rf "$dir"
		find /usr/lib /etc -type f | head -n 2000 | xargs -n 50 ls -l || true
		if command -v cc; then
			echo 'int main(void) { return 0; }' | cc -x c - -o "$scratch/program$1" || true
		fi
		for _ in {1..50}; do
			head -c 65536 /dev/zero | tail -c 4096 | cat
		done
	done
}

load() {
	set -m # a process group for each
	for ((i = 0; i < cpus; i++)); do
		worker "$i" >/dev/null 2>&1 </dev/null &
		workers+=($!)
	done
	set +m
	wait "${workers[@]}"
	workers=()
}

cpus=$(nproc)
buffers=${#old_size[@]}
available_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
if [ -z "$size_kb" ]; then
	size_kb=$((available_kb / 2 / buffers))
	[ $size_kb -le 1500000 ] || size_kb=1500000
elif [ $((size_kb * buffers)) -gt $((available_kb * 3 / 4)) ]; then
	die "$buffers buffers of $size_kb KiB would take over three quarters of the memory; give a smaller -s"
fi

put tracing_on 0
put set_event ''
put trace_clock "$clock"
put buffer_size_kb "$size_kb"
put options/overwrite 0
put options/stacktrace 0
put trace ''
for event in $events; do
	printf '%s\n' "$event" >>$tracefs/set_event || die "this kernel has no event '$event'"
done

echo "record.sh: recording, $size_kb KiB for each of $buffers CPUs" >&2
put tracing_on 1
status=0
if [ $# -gt 0 ]; then
	"$@" >/dev/null || status=$?
else
	load
fi
put tracing_on 0
put set_event ''
[ "$status" -eq 0 ] || echo "record.sh: the command ended with status $status; writing what was recorded" >&2

# What a full buffer dropped; read before the extraction empties the buffers.
lost=$(cat $tracefs/per_cpu/cpu*/stats |
	awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { print n + 0 }')
extract=(trace-cmd extract -o "$out")
[ -z "$compression" ] || extract+=(--compression "$compression")
"${extract[@]}" >"$scratch/log" 2>&1 || die "trace-cmd extract failed: $(tail -n 3 "$scratch/log")"
[ -s "$out" ] || die "trace-cmd extract wrote nothing"

if [ "$lost" -gt 0 ]; then
	echo "record.sh: $lost events found no room; give a larger -s or a shorter -t to have them all" >&2
fi
ls -l -- "$out"
