#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# install-deps.sh [SET...]: installs the Debian packages that kmstat's build and checks need and that are missing.
# Sets: build (the default), check, bench, tidy, coverage; every set includes build. Touches no network when nothing
# is missing.
set -euo pipefail

build=(gcc cmake ninja-build pkg-config libtraceevent-dev libjansson-dev libzstd-dev zlib1g-dev libsmartcols-dev)
check=(check clang llvm libclang-rt-dev clang-format mandoc trace-cmd libtracecmd-dev libtracefs-dev
	python3 python3-jsonschema jq xz-utils)
bench=(python3 trace-cmd linux-perf)
tidy=(clang-tidy)
coverage=(check gcovr)

die() {
	echo "install-deps: $*" >&2
	exit 1
}

wanted=("${build[@]}")
for name in "$@"; do
	case $name in
	build) ;;
	check) wanted+=("${check[@]}") ;;
	bench) wanted+=("${bench[@]}") ;;
	tidy) wanted+=("${check[@]}" "${tidy[@]}") ;;
	coverage) wanted+=("${check[@]}" "${coverage[@]}") ;;
	*) die "unknown set '$name'; the sets are build, check, bench, tidy and coverage" ;;
	esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	die "this is not a Debian system; install what corresponds to these packages of Debian 12," \
		"then run make with SKIP_DEPS=1: ${wanted[*]}"
fi

# dpkg-query fails when a package is unknown to it, which is one way of not being installed. A package is also there
# when another one provides it (pkgconf for pkg-config).
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' |
	sed -n 's/^installed //p' | tr ',' '\n' | sed 's/(.*//; s/[[:space:]]//g')
missing=()
for package in "${wanted[@]}"; do
	grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || die "neither root nor sudo; have an administrator install: ${missing[*]}"
	as_root=(sudo)
fi
echo "install-deps: installing ${missing[*]}"
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120)
"${apt_get[@]}" update || echo "install-deps: apt-get update failed; trying with the package lists at hand" >&2
"${apt_get[@]}" install --no-install-recommends "${missing[@]}" ||
	die "could not install: ${missing[*]}; install them by hand, or run make with SKIP_DEPS=1 if they are not needed"
