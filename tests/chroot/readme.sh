#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The commands of README.md for newcomers, typed on a bare Debian: its list of packages, the build that
# follows it, and a picture by scripts/view. $KSV_RELEASE chooses the Debian, bookworm or trixie.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$KSV_SOURCE_DIR/scripts/lib.sh"
# shellcheck source=scripts/chroot.sh
. "$KSV_SOURCE_DIR/scripts/chroot.sh"

fail() { echo "FAILED: $*" >&2; exit 1; }

release=${KSV_RELEASE:-bookworm}
ksv_may_enter "$release"
place=$KSV_BUILD_DIR/chroot
rm -rf --one-file-system "$place"
mkdir -p "$place"
trap 'rm -rf --one-file-system "$place"' EXIT

# readme FIRST: the indented lines of README.md that begin with one that starts so, up to the next empty one
readme()
{
	awk -v first="    $1" '!on && index($0, first) == 1 { on = 1 } on && !/^    / { exit } on' \
		"$KSV_SOURCE_DIR/README.md" | sed 's/^    //'
}
packages=$(readme 'apt-get install')
build=$(readme 'cmake -S . -B build')
picture=$(readme 'scripts/view --screenshot')
plugin=$(grep -o '/usr/local/lib[^ `]*/plugin-xentrace\.so' "$KSV_SOURCE_DIR/docs/window.md" | head -n 1)
for part in "$packages" "$build" "$picture" "$plugin"; do
	[ -n "$part" ] || fail "README.md does not say it in the way that this test looks for"
done
# as it says of Debian 13
[ "$release" = bookworm ] || packages=${packages/qtbase5-dev/qt6-base-dev}

ksv_make_chroot "$release" "$place/root"
# who types it agrees
echo 'APT::Get::Assume-Yes "true";' >"$place/root/etc/apt/apt.conf.d/90agree"
ksv_enter "$place/root" "$place/build" bash -c "set -ex
export DEBIAN_FRONTEND=noninteractive
cd /src
apt-get update
$packages
$build
build/bin/kshark-virt report --full samples/pinned.xen >/tmp/built
kshark-virt report --full samples/pinned.xen >/tmp/installed
cmp /tmp/built /tmp/installed
grep -q d1v0 /tmp/built
test -f $plugin
cmake --build build --target uninstall
$picture
file=\$(find build -maxdepth 1 -name '*.png' -size +10k)
test -n \"\$file\"" </dev/null || fail "Debian $release: what README.md says does not work, see above"
echo "passed on Debian $release"
