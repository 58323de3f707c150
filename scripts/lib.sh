# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What scripts/view and scripts/test share: packages, quiet steps, building. To be sourced.

KSV_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KSV_NAME=${0##*/}

ksv_die()
{
	printf '%s: %s\n' "$KSV_NAME" "$1" >&2
	[ $# -lt 2 ] || printf '%s\n' "${@:2}" >&2
	exit 1
}

ksv_say()
{
	printf '%s: %s\n' "$KSV_NAME" "$*" >&2
}

# ksv_packages SECTION...: the packages of these sections of packages.txt
ksv_packages()
{
	local section

	for section; do
		sed -n "s/^$section //p" "$KSV_TOP/scripts/packages.txt"
	done | tr '\n' ' '
}

# ksv_missing PACKAGE...: those that are not installed
ksv_missing()
{
	local package

	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			printf '%s ' "$package"
	done
}

# Debian 12 or later is what the packages' names are known for.
ksv_check_distribution()
{
	local ID='' VERSION_ID='' PRETTY_NAME='an unknown system'

	# shellcheck disable=SC1091
	[ ! -r /etc/os-release ] || . /etc/os-release
	[ "$ID" != debian ] || [ "${VERSION_ID:-99}" -lt 12 ] || return 0
	ksv_die "this is $PRETTY_NAME; packages are only installed on Debian 12 and later." \
		"Needed to build and run: CMake 3.25, Ninja, a C and a C++ compiler, pkg-config," \
		"KernelShark 2.2 with its headers (libkshark), zlib, libzstd, json-c; for pictures" \
		"without a display Xvfb, openbox, xdotool, ImageMagick; for the tests cmocka, clang" \
		"with compiler-rt, Python 3, xenalyze (Xen's tools), trace-cmd." \
		"With these in place, run it again with KSV_NO_INSTALL=1 in the environment."
}

# ksv_install SECTION...: install what is missing of these sections; silent if nothing is
ksv_install()
{
	local missing run=() log command

	[ -z "${KSV_NO_INSTALL:-}" ] || return 0
	ksv_check_distribution
	# shellcheck disable=SC2046
	missing=$(ksv_missing $(ksv_packages "$@"))
	missing=${missing% }
	[ -n "$missing" ] || return 0
	command="apt-get install --no-install-recommends -y $missing"
	if [ "$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null ||
			ksv_die "packages are missing, and only root may install them; as root:" \
				"    $command"
		run=(sudo -n)
	fi
	run+=(env DEBIAN_FRONTEND=noninteractive)
	ksv_say "installing $missing"
	log=$(mktemp)
	# The lists may be absent or too old; asking for new ones is only worth it then.
	# shellcheck disable=SC2086
	if ! "${run[@]}" $command </dev/null >"$log" 2>&1 &&
	   ! { "${run[@]}" apt-get update && "${run[@]}" $command; } </dev/null >>"$log" 2>&1; then
		grep -E '^(E|Err|W):' "$log" | sort -u | tail -n 15 >&2
		if grep -qE 'Temporary failure|Could not (resolve|connect)|Unable to connect' "$log"
		then
			rm -f "$log"
			ksv_die "apt-get cannot reach the Debian mirror: is there a network?" \
				"When there is, run this again, or by hand:" "    $command"
		fi
		tail -n 5 "$log" >&2
		rm -f "$log"
		ksv_die "apt-get failed, see above. By hand:" "    $command"
	fi
	rm -f "$log"
}

# ksv_quietly LOG COMMAND...: run a step; its output is shown only if it fails
ksv_quietly()
{
	local log=$1
	shift

	mkdir -p "${log%/*}"
	"$@" </dev/null >"$log" 2>&1 && return 0
	tail -n 60 "$log" >&2
	ksv_say "failed: $* (all of its output: $log)"
	return 1
}

# ksv_build PRESET: configure where it has not been done, and build what has changed
ksv_build()
{
	local preset=$1 dir=$KSV_TOP/build/$1

	ksv_has_cmake
	if [ ! -f "$dir/build.ninja" ] || [ "$KSV_TOP/CMakePresets.json" -nt "$dir/CMakeCache.txt" ]
	then
		ksv_say "configuring $preset"
		(cd "$KSV_TOP" && ksv_quietly "$dir/configure.log" cmake --preset "$preset") ||
			return 1
		touch "$dir/CMakeCache.txt"
	fi
	# Checking that everything is up to date takes less than this second.
	(sleep 1 && ksv_say "building $preset") &
	local notice=$! status=0
	ksv_quietly "$dir/build.log" cmake --build "$dir" || status=1
	kill "$notice" 2>/dev/null || :
	wait "$notice" 2>/dev/null || :
	return "$status"
}

ksv_has_cmake()
{
	command -v cmake >/dev/null || ksv_die "cmake is missing (Debian: apt-get install cmake)"
	command -v ninja >/dev/null || ksv_die "ninja is missing (Debian: apt-get install ninja-build)"
}
