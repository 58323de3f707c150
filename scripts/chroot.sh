# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Another release of Debian in a folder, for "scripts/test --in RELEASE". To be sourced after lib.sh.
#
# It is made once by mmdebstrap, bare, and kept in $KSV_CHROOTS, else ~/.cache/kshark-virt/chroots;
# scripts/test in it installs what it needs, as on a new machine. The tree is seen as /src there, with a
# folder build of its own. All that is mounted is so in a namespace that ends with the last process.

KSV_NOT_DONE=77		# what it ends with where there is no root or no network

ksv_not_done()
{
	ksv_say "NOT DONE: the tests in Debian $release: $1"
	exit "$KSV_NOT_DONE"
}

# ksv_mount FOLDER BUILD: in a namespace of our own, what the tests need in there
ksv_mount()
{
	mkdir -p "$1/src" "$2" "$KSV_TOP/build"
	mount --make-rprivate /
	mount -t proc proc "$1/proc"
	mount --bind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/dev/shm"
	mount -t tmpfs tmpfs "$1/tmp"
	mount --bind "$KSV_TOP" "$1/src"
	mount --bind "$2" "$1/src/build"
	cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null || :
}

# ksv_enter FOLDER BUILD COMMAND...: run it in there
ksv_enter()
{
	export -f ksv_mount
	export KSV_TOP
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child bash -c '
		set -e
		ksv_mount "$1" "$2"
		exec chroot "$1" env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" ${CI:+CI="$CI"} \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:3}"
	' bash "$@"
}

# ksv_make_chroot RELEASE FOLDER: with all that the tests need, so that they need no network later
ksv_make_chroot()
{
	local release=$1 dir=$2 log=$2.log

	ksv_install chroot
	command -v mmdebstrap >/dev/null || ksv_die "mmdebstrap is missing"
	ksv_say "making a bare Debian $release in $dir"
	rm -rf --one-file-system "$dir.new"
	# proxies and the like are this machine's
	apt-config dump --format '%F "%v";%n' Acquire::http Acquire::https >"$dir.conf"
	if ! mmdebstrap --variant=apt --aptopt="$dir.conf" "$release" "$dir.new" \
	     "${KSV_MIRROR:-http://deb.debian.org/debian}" </dev/null >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		ksv_not_done "mmdebstrap has failed, see above: is there a network?"
	fi
	# nothing is to be started in there
	printf '#!/bin/sh\nexit 101\n' >"$dir.new/usr/sbin/policy-rc.d" ||
		ksv_die "$dir.new: cannot be written"
	chmod 755 "$dir.new/usr/sbin/policy-rc.d"
	# there was a network: what fails from here on is a failure
	ksv_enter "$dir.new" "$dir.build" bash -c '. /src/scripts/lib.sh &&
		ksv_install build view screenshot test' ||
		ksv_die "Debian $release: its packages cannot be installed, see above"
	mv "$dir.new" "$dir"
}

# ksv_test_in RELEASE ARGUMENT...: scripts/test with these arguments in that release
ksv_test_in()
{
	local release=$1 dir=${KSV_CHROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/kshark-virt/chroots}/$1
	shift

	case $release in
	bookworm | trixie) ;;
	*) ksv_die "--in $release: only bookworm and trixie are known" ;;
	esac
	[ "$(id -u)" = 0 ] || ksv_not_done "only root may make and enter it"
	unshare --mount true 2>/dev/null || ksv_not_done "nothing may be mounted here"
	mkdir -p "${dir%/*}"
	exec {KSV_CHROOT_LOCK}>"$dir.lock"
	flock "$KSV_CHROOT_LOCK"
	if [ ! -d "$dir" ]; then
		ksv_make_chroot "$release" "$dir"
	fi
	ksv_enter "$dir" "$dir.build" /src/scripts/test "$@"
}
