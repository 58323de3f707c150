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

# ksv_release: the number of Debian's release: that of a newer one, or of testing, is 13's
ksv_release()
{
	local VERSION_ID=''

	# shellcheck disable=SC1091
	[ ! -r /etc/os-release ] || . /etc/os-release
	[ "${VERSION_ID:-13}" -ge 13 ] 2>/dev/null && echo 13 || echo 12
}

# ksv_packages_of RELEASE SECTION...: the packages of these sections of packages.txt in Debian 12 or 13
ksv_packages_of()
{
	local section release=$1

	for section in "${@:2}"; do
		sed -nE "s/^$section(:$release)? //p" "$KSV_TOP/scripts/packages.txt"
	done | tr '\n' ' '
}

# ksv_packages SECTION...: the same in this release
ksv_packages()
{
	ksv_packages_of "$(ksv_release)" "$@"
}

# ksv_no_network LOG: it is that of an apt-get which has not reached the mirror
ksv_no_network()
{
	grep -qE 'Temporary failure|Could not (resolve|connect)|Unable to connect' "$1"
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
	local missing run=() log command as_root=

	[ -z "${KSV_NO_INSTALL:-}" ] || return 0
	ksv_check_distribution
	# shellcheck disable=SC2046
	missing=$(ksv_missing $(ksv_packages "$@"))
	missing=${missing% }
	[ -n "$missing" ] || return 0
	command="apt-get install --no-install-recommends -y $missing"
	[ -z "${KSV_ASK:-}" ] || ksv_ask
	if [ "$(id -u)" != 0 ]; then
		run=(sudo)
		# who has no sudo becomes root in another way
		! command -v sudo >/dev/null || as_root='sudo '
		# sudo asks on the terminal, if there is one
		[ -n "$as_root" ] && { sudo -n true 2>/dev/null || { [ -t 2 ] &&
			ksv_say "packages are missing, and sudo may ask for your password:" &&
			sudo true; }; } ||
			ksv_die "packages are missing, and only root may install them:" \
				"    ${as_root}apt-get update && $as_root$command"
	fi
	run+=(env DEBIAN_FRONTEND=noninteractive LC_ALL=C)
	log=$(mktemp)
	if ! ksv_apt "$log" && ! ksv_apt_again "$log"; then
		grep -E '^(E|Err|W):' "$log" | sort -u | tail -n 15 >&2 || :
		if ksv_no_network "$log"; then
			rm -f "$log"
			ksv_die "apt-get cannot reach the Debian mirror: is there a network?" \
				"When there is, run this again, or by hand:" \
				"    ${as_root}apt-get update && $as_root$command"
		fi
		tail -n 5 "$log" >&2
		rm -f "$log"
		ksv_die "apt-get failed, see above. By hand:" \
			"    ${as_root}apt-get update && $as_root$command"
	fi
	rm -f "$log"
}

# ksv_in_container: the system was made for this work, and root may change it unasked
ksv_in_container()
{
	local detect=(systemd-detect-virt --quiet)

	[ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ -n "${container:-}" ] ||
		"${detect[@]}" --container 2>/dev/null || "${detect[@]}" --chroot 2>/dev/null
}

# ksv_ask: whether the packages in $missing of ksv_install() may be installed by its $command; ends if not
ksv_ask()
{
	local n reply=''

	# shellcheck disable=SC2086
	n=$(apt-get install --no-install-recommends -s $missing 2>/dev/null | grep -c '^Inst ') || :
	ksv_say "packages are missing${n:+ ($n with their dependencies)}: $missing"
	if [ -t 0 ] && [ -t 2 ]; then
		read -r -p "Install them? [y/N] " reply || :
		[[ $reply != [yY]* ]] || return 0
	fi
	ksv_die "not installed. Install them with --yes, or by hand:" \
		"    apt-get update && $command"
}

# ksv_install_stopped SECTION...: install packages without starting their services, which needs root.
# In a subshell: what fails ends only that.
ksv_install_stopped()
(
	policy=/usr/sbin/policy-rc.d
	if [ "$(id -u)" = 0 ] && [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		trap 'rm -f "$policy"' EXIT
	fi
	ksv_install "$@"
)

# ksv_apt_again LOG: after an apt-get that failed, with messages in LOG: do what would have prevented it, and try again
ksv_apt_again()
{
	local log=$1

	# An installation was killed, or the machine went down. dpkg may lack packages to finish that; apt-get
	# loads them.
	if grep -qE 'dpkg was interrupted|--fix-broken' "$log"; then
		ksv_say "an installation was interrupted: finishing that with 'dpkg --configure -a'" \
			"and 'apt-get --fix-broken install'"
		"${run[@]}" dpkg --configure -a </dev/null >>"$log" 2>&1 || :
		"${run[@]}" apt-get --fix-broken install -y </dev/null >>"$log" 2>&1 && : >"$log" &&
			ksv_apt "$log" && return
	fi
	# The lists may be absent or too old; asking for new ones is only worth it then.
	"${run[@]}" apt-get update </dev/null >>"$log" 2>&1 && ksv_apt "$log"
}

# ksv_apt LOG: say what the variables $run and $command of ksv_install() load and install, and do it
ksv_apt()
{
	local log=$1 plan new size

	# shellcheck disable=SC2086
	plan=$("${run[@]}" ${command/install/install -s} </dev/null 2>>"$log") || return 1
	new=$(grep -c '^Inst ' <<<"$plan")
	# apt-get prints what it is going to load only if the user can still refuse.
	# shellcheck disable=SC2086
	size=$("${run[@]}" ${command/ -y / --assume-no } </dev/null 2>/dev/null |
		sed -nE 's/^Need to get ([^ ]+ [kMG]?B).*/, loading \1/p
			s/^After this operation, ([^ ]+ [kMG]?B) of additional.*/, \1 on the disk/p' |
		tr -d '\n') || :
	ksv_say "installing $missing: $new packages in all$size"
	# dlstatus:NUMBER:PERCENT:WHAT, pmstatus:PACKAGE:PERCENT:WHAT. On a descriptor of its own, which sudo
	# would close: packages' scripts write to the usual ones, and fail if they cannot.
	# shellcheck disable=SC2016,SC2086
	"${run[@]}" sh -c 'exec 3>&1 >&2; exec "$@"' sh $command -o APT::Status-Fd=3 \
		</dev/null 2>>"$log" |
		sed -unE 's/^dlstatus:[^:]*:([0-9]+)[^:]*:.*/\1 loading/p
			s/^pmstatus:[^:]*:([0-9]+)[^:]*:.*/\1 installing/p' |
		ksv_progress
	return "${PIPESTATUS[0]}"
}

# ksv_progress: lines "PERCENT WHAT" as one that changes on a terminal, else a line each quarter
ksv_progress()
{
	local percent what last=-1 last_what='' shown=

	while read -r percent what; do
		[ "$what" = "$last_what" ] || last=-1
		if [ -t 2 ] && [ "$percent" != "$last" ]; then
			printf '\r%s: %s: %3d %%\033[K' "$KSV_NAME" "$what" "$percent" >&2
			shown=1
		elif [ ! -t 2 ] && [ $((percent / 25)) -gt $((last < 0 ? 0 : last / 25)) ]; then
			ksv_say "$what: $percent %"
		fi
		last=$percent last_what=$what
	done
	[ -z "$shown" ] || printf '\r\033[K' >&2
}

# ksv_quietly LOG COMMAND...: run a step, and show its output only if it fails. Until its end, show its progress if it
# prints that as ninja does, "[3/7]"
ksv_quietly()
{
	local log=$1 status=0 step of
	shift

	mkdir -p "${log%/*}"
	"$@" </dev/null 2>&1 | tee "$log" |
		sed -unE 's/^\[([0-9]+)\/([0-9]+)\].*/\1 \2/p' |
		while read -r step of; do
			# of a few it makes no difference; to look for new files is [1/2]
			[ "$of" -le 20 ] || echo "$((100 * step / of)) building"
		done | ksv_progress || status=${PIPESTATUS[0]}
	[ "$status" != 0 ] || return 0
	tail -n 60 "$log" >&2
	ksv_say "failed: $* (all of its output: $log)"
	return 1
}

# ksv_build PRESET: configure where it has not been done, and build what has changed
ksv_build()
{
	local preset=$1 dir=$KSV_TOP/build/$1

	ksv_has_cmake
	ksv_with_ccache
	if [ ! -f "$dir/build.ninja" ] || [ "$KSV_TOP/CMakePresets.json" -nt "$dir/CMakeCache.txt" ]
	then
		ksv_say "configuring $preset"
		(cd "$KSV_TOP" && ksv_quietly "$dir/configure.log" cmake --preset "$preset") ||
			return 1
		touch "$dir/CMakeCache.txt"
	fi
	# Checking that everything is up to date takes less than this second.
	(sleep 1 && { [ ! -t 2 ] || printf '\r\033[K' >&2; } && ksv_say "building $preset") &
	local notice=$! status=0
	ksv_quietly "$dir/build.log" cmake --build "$dir" || status=1
	kill "$notice" 2>/dev/null || :
	wait "$notice" 2>/dev/null || :
	return "$status"
}

# ksv_with_ccache: where ccache is installed, a second clone of the tree compiles what has changed
ksv_with_ccache()
{
	command -v ccache >/dev/null || return 0
	export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
	export CCACHE_BASEDIR=$KSV_TOP CCACHE_NOHASHDIR=1
	# Without this, nothing that includes a precompiled header is kept.
	export CCACHE_SLOPPINESS=pch_defines,time_macros
}

ksv_has_cmake()
{
	command -v cmake >/dev/null || ksv_die "cmake is missing (Debian: apt-get install cmake)"
	command -v ninja >/dev/null || ksv_die "ninja is missing (Debian: apt-get install ninja-build)"
}
