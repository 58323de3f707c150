# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Another release of Debian in a folder, for "scripts/test --in RELEASE" and tests/chroot. To be sourced
# after lib.sh.
#
# It is made once by mmdebstrap, with what the tests need and nothing else, and kept in $KSV_CHROOTS, else
# ~/.cache/kshark-virt/chroots. The tree is seen as /src there, with a folder build of its own. All that is
# mounted is so in a namespace that ends with the last process.

KSV_NOT_DONE=77		# what it ends with where there is no root or no network

ksv_not_done()
{
	ksv_say "NOT DONE: the tests in Debian $release: $1"
	exit "$KSV_NOT_DONE"
}

# ksv_mount FOLDER BUILD: in a namespace of our own, what the tests need in there
ksv_mount()
{
	local git

	mkdir -p "$1/src" "$2" "$KSV_TOP/build"
	mount --make-rprivate /
	mount -t proc proc "$1/proc"
	mount --bind /dev "$1/dev"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$1/dev/pts"
	mount -t tmpfs tmpfs "$1/dev/shm"
	mount -t tmpfs tmpfs "$1/tmp"
	mount --bind "$KSV_TOP" "$1/src"
	mount --bind "$2" "$1/src/build"
	# In a worktree, .git is a file with the path of a folder outside: what asks git needs it.
	if [ -f "$KSV_TOP/.git" ] && git=$(git -c safe.directory='*' -C "$KSV_TOP" rev-parse \
	   --path-format=absolute --git-common-dir 2>/dev/null); then
		mkdir -p "$1$git"
		mount --bind -o ro "$git" "$1$git"
	fi
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
		exec chroot "$1" env -i container=chroot HOME=/root LANG=C.UTF-8 \
			TERM="${TERM:-dumb}" ${CI:+CI="$CI"} \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:3}"
	' bash "$@"
}

# ksv_make_chroot RELEASE FOLDER SECTION...: a Debian with these sections of packages.txt
ksv_make_chroot()
{
	local release=$1 dir=$2 log=$2.log packages number=12

	ksv_install chroot
	command -v mmdebstrap >/dev/null || ksv_die "mmdebstrap is missing"
	[ "$release" = bookworm ] || number=13
	packages=$(ksv_packages_of "$number" "${@:3}")
	ksv_say "making a Debian $release in $dir"
	rm -rf --one-file-system "$dir.new"
	# proxies and the like are this machine's
	apt-config dump --format '%F "%v";%n' Acquire::http Acquire::https >"$dir.conf"
	# One apt-get for all. Nobody reads manuals there, and a power cut costs no more than another try.
	# shellcheck disable=SC2016
	if ! mmdebstrap --variant=apt --aptopt="$dir.conf" --dpkgopt=force-unsafe-io \
	     --essential-hook='echo man-db man-db/auto-update boolean false |
			chroot "$1" debconf-set-selections' \
	     ${packages:+"--include=$packages"} --skip=cleanup/apt/lists "$release" "$dir.new" \
	     "${KSV_MIRROR:-http://deb.debian.org/debian}" </dev/null >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		ksv_no_network "$log" && ksv_not_done "mmdebstrap reaches no mirror: is there a network?"
		ksv_die "Debian $release cannot be installed, see above (all of it: $log)"
	fi
	# nothing is to be started in there
	printf '#!/bin/sh\nexit 101\n' >"$dir.new/usr/sbin/policy-rc.d" ||
		ksv_die "$dir.new: cannot be written"
	chmod 755 "$dir.new/usr/sbin/policy-rc.d"
	mv "$dir.new" "$dir"
}

# ksv_may_enter RELEASE: or it ends here, with the reason
ksv_may_enter()
{
	local release=$1

	case $release in
	bookworm | trixie) ;;
	*) ksv_die "Debian $release: only bookworm and trixie are known" ;;
	esac
	[ "$(id -u)" = 0 ] || ksv_not_done "only root may make and enter it"
	unshare --mount true 2>/dev/null || ksv_not_done "nothing may be mounted here"
}

# ksv_test_in RELEASE ARGUMENT...: scripts/test with these arguments in that release
ksv_test_in()
{
	local release=$1 dir=${KSV_CHROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/kshark-virt/chroots}/$1
	shift

	ksv_may_enter "$release"
	mkdir -p "${dir%/*}"
	exec {KSV_CHROOT_LOCK}>"$dir.lock"
	flock "$KSV_CHROOT_LOCK"
	if [ ! -d "$dir" ]; then
		ksv_make_chroot "$release" "$dir" build view screenshot test
	fi
	# times of files do not tell of two trees which has been built
	if [ "$(cat "$dir.build/tree" 2>/dev/null)" != "$KSV_TOP" ]; then
		rm -rf --one-file-system "$dir.build"
		mkdir -p "$dir.build"
		echo "$KSV_TOP" >"$dir.build/tree"
	fi
	ksv_enter "$dir" "$dir.build" /src/scripts/test "$@"
}
