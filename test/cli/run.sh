#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Golden tests of the command line. A case is GROUP/NAME.cmd, a few lines of
# shell that call kmstat, and beside it what is expected:
#
#	NAME.stdout	none: nothing on standard output
#	NAME.stderr	none: nothing on standard error
#	NAME.status	none: exit status 0
#
# A case runs in an empty directory of its own that has links to all fixtures,
# with a fixed environment. Where it can not be run (as root, say) it exits 77:
# skipped. The version and the case's directory are VERSION and DIR in what is
# expected.
#
#	run.sh [--regenerate] KMSTAT VERSION [CASE.cmd...]
#
# Without cases all are run. --regenerate writes what came out as what is
# expected: look at the diff before it is committed.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
regenerate=
if [ "${1-}" = --regenerate ]; then
	regenerate=yes
	shift
fi
if [ $# -lt 2 ]; then
	echo "usage: $0 [--regenerate] KMSTAT VERSION [CASE.cmd...]" >&2
	exit 2
fi
kmstat=$(realpath "$1")
version=$2
shift 2
[ $# -gt 0 ] || set -- "$here"/*/*.cmd

work=$(mktemp -d "${TMPDIR:-/tmp}/kmstat-cli.XXXXXX") || exit 2
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT

# What a fixed environment can not take out.
normalise()
{
	sed -e "s|kmstat ${version//./\\.}|kmstat VERSION|g" -e "s|$work/run|DIR|g"
}

run_case()
{
	local cmd=$1
	rm -rf "$work/run"
	mkdir "$work/run" "$work/run/bin"
	ln -s "$here"/../fixtures/* "$work/run/"
	ln -s "$kmstat" "$work/run/bin/kmstat"
	(
		cd "$work/run" || exit 2
		# Sanitizers keep their options, all else is the case's own.
		env -i PATH="$work/run/bin:/usr/bin:/bin" HOME="$work/run" LANG=C.UTF-8 LC_ALL=C.UTF-8 COLUMNS=100 \
			NO_COLOR=1 ASAN_OPTIONS="${ASAN_OPTIONS-}" UBSAN_OPTIONS="${UBSAN_OPTIONS-}" \
			bash "$cmd"
	) </dev/null >"$work/stdout.raw" 2>"$work/stderr.raw"
	status=$?
	normalise <"$work/stdout.raw" >"$work/stdout"
	normalise <"$work/stderr.raw" >"$work/stderr"
	: >"$work/status"
	[ "$status" = 0 ] || echo "$status" >"$work/status"
}

failed=0 skipped=0
for cmd in "$@"; do
	cmd=$(realpath "$cmd")
	base=${cmd%.cmd}
	name=$(basename "$(dirname "$cmd")")/$(basename "$base")
	run_case "$cmd"
	if [ "$status" = 77 ]; then
		echo "$name: skipped: $(cat "$work/stderr")"
		skipped=1
		continue
	fi
	for what in status stdout stderr; do
		if [ -n "$regenerate" ]; then
			if [ -s "$work/$what" ]; then
				cp "$work/$what" "$base.$what"
			else
				rm -f "$base.$what"
			fi
		else
			expected=$base.$what
			[ -e "$expected" ] || expected=/dev/null
			if ! diff -au --label "expected $what" --label "actual $what" "$expected" "$work/$what"; then
				echo "$name: $what differs"
				failed=1
			fi
		fi
	done
done
[ "$failed" = 0 ] || exit 1
[ "$skipped" = 0 ] || [ $# -gt 1 ] || exit 77
