# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Another release of Debian in a folder, for "scripts/test --in RELEASE" and tests/chroot. To be sourced
# after lib.sh. "arm64" is Debian 12 with a cross-compiler, and libraries of arm64 beside its own.
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
	local release=$1 dir=$2 log=$2.log packages number=12 more=()

	ksv_install chroot
	command -v mmdebstrap >/dev/null || ksv_die "mmdebstrap is missing"
	if [ "$release" = arm64 ]; then
		release=bookworm more=("--architectures=amd64,arm64")
	fi
	[ "$release" = bookworm ] || number=13
	packages=$(ksv_packages_of "$number" "${@:3}")
	ksv_say "making a Debian $release${more:+ for arm64} in $dir"
	rm -rf --one-file-system "$dir.new"
	# proxies and the like are this machine's
	apt-config dump --format '%F "%v";%n' Acquire::http Acquire::https >"$dir.conf"
	# One apt-get for all. Nobody reads manuals there, and a power cut costs no more than another try.
	# shellcheck disable=SC2016
	if ! mmdebstrap --variant=apt "${more[@]}" --aptopt="$dir.conf" --dpkgopt=force-unsafe-io \
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
	arm64) [ "$(dpkg --print-architecture)" = amd64 ] ||
		ksv_not_done "the cross-compiler is for amd64 alone" ;;
	*) ksv_die "Debian $release: only bookworm, trixie and arm64 are known" ;;
	esac
	[ "$(id -u)" = 0 ] || ksv_not_done "only root may make and enter it"
	unshare --mount true 2>/dev/null || ksv_not_done "nothing may be mounted here"
}

KSV_BINFMT=/proc/sys/fs/binfmt_misc

# ksv_emulate FOLDER: let the kernel run programs of arm64 by the emulator in there. It ends with this script, unless
# the script is killed; the next run takes it over. Debian's package qemu-user-static does so for the whole machine;
# where it is installed, there is nothing to do.
ksv_emulate()
{
	local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

	! chroot "$1" /lib/ld-linux-aarch64.so.1 --version >/dev/null 2>&1 || return 0
	[ -e "$KSV_BINFMT/register" ] || mount -t binfmt_misc binfmt_misc "$KSV_BINFMT" 2>/dev/null ||
		ksv_not_done "the kernel has no binfmt_misc"
	trap 'echo -1 >"$KSV_BINFMT/kshark-virt-arm64"' EXIT
	# F: the emulator is opened now, so that its path need not exist in a chroot
	printf ':kshark-virt-arm64:M::%s:%s:%s:F' "$magic" "$mask" "$1/usr/bin/qemu-aarch64-static" \
		>"$KSV_BINFMT/register" || ksv_not_done "the kernel takes no emulator of arm64"
}

# ksv_test_in RELEASE ARGUMENT...: scripts/test with these arguments in that release
ksv_test_in()
{
	local release=$1 dir=${KSV_CHROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/kshark-virt/chroots}/$1
	local sections=(build view screenshot test) options=()
	shift

	ksv_may_enter "$release"
	mkdir -p "${dir%/*}"
	exec {KSV_CHROOT_LOCK}>"$dir.lock"
	flock "$KSV_CHROOT_LOCK"
	[ "$release" != arm64 ] || sections=(arm64) options=(--preset arm64)
	if [ ! -d "$dir" ]; then
		ksv_make_chroot "$release" "$dir" "${sections[@]}"
	fi
	[ "$release" != arm64 ] || ksv_emulate "$dir"
	# times of files do not show which of two trees has been built
	if [ "$(cat "$dir.build/tree" 2>/dev/null)" != "$KSV_TOP" ]; then
		rm -rf --one-file-system "$dir.build"
		mkdir -p "$dir.build"
		echo "$KSV_TOP" >"$dir.build/tree"
	fi
	ksv_enter "$dir" "$dir.build" /src/scripts/test "${options[@]}" "$@"
}
