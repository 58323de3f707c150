#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Install the Debian packages of build.sh, open a sample with the installed plugins, remove them. What was
# there before is there afterwards.
set -euo pipefail

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "only root may install a package"
for tool in dpkg-deb kernelshark Xvfb openbox xdotool import; do
	command -v "$tool" >/dev/null || skip "$tool is missing"
done
packages="kshark-virt kshark-virt-plugins libkshark-virt-dev libkshark-virt0"
for package in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || :)
	[ -z "$status" ] || [ "$status" = not-installed ] ||
		skip "the package $package is $status here already and must not be touched"
done

build=$KSV_BUILD_DIR/package
mapfile -t debs < <(find "$build" -maxdepth 1 -name '*.deb')
[ ${#debs[@]} = 4 ] || fail "there are no packages: the test package.build makes them"
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
# One question for all: the database is read anew for each.
owned=$(xargs -d '\n' dpkg-query -S 2>/dev/null <"$build/files" || :)
[ -z "$owned" ] || fail "there are files of other packages: $owned"
while read -r file; do
	[ ! -e "$file" ] || fail "$file is there already, of unknown origin"
done <"$build/files"

echo "== install"
verify_host() { dpkg --verify kernelshark libkshark2 || :; }
host_before=$(verify_host)
restore()
{
	# shellcheck disable=SC2086
	dpkg --purge $packages >/dev/null 2>&1 || echo "the packages cannot be removed" >&2
}
trap restore EXIT
dpkg -i "${debs[@]}" || fail "dpkg does not install the packages"
AUTOPKGTEST_ARTIFACTS=$KSV_ARTIFACTS "$KSV_SOURCE_DIR/debian/tests/open-sample" || exit 1

echo "== remove"
# shellcheck disable=SC2086
dpkg --purge $packages || fail "the packages cannot be removed"
trap - EXIT
while read -r file; do
	[ ! -e "$file" ] || fail "$file is still there"
done <"$build/files"
[ ! -e "$libdir/libkshark-virt.so.0" ] || fail "the library is still there"
[ ! -e /usr/include/kshark-virt ] || fail "/usr/include/kshark-virt is still there"
ldconfig -p | grep -F libkshark-virt && fail "the dynamic linker still knows the library"
[ "$(verify_host)" = "$host_before" ] || fail "KernelShark's own files have changed: $(verify_host)"
echo "passed"
