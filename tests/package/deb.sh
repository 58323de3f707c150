#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Install the Debian package of build.sh, open a sample with the installed plugin, remove it. What was
# there before is there afterwards.
set -euo pipefail
# shellcheck source=../../scripts/display.sh
. "$KSV_SOURCE_DIR/scripts/display.sh"

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "only root may install a package"
for tool in dpkg-deb kernelshark Xvfb openbox xdotool import; do
	command -v "$tool" >/dev/null || skip "$tool is missing"
done
status=$(dpkg-query -W -f '${db:Status-Status}' kshark-virt 2>/dev/null || :)
[ -z "$status" ] || [ "$status" = not-installed ] ||
	skip "the package kshark-virt is $status here already and must not be touched"

build=$KSV_BUILD_DIR/package
sample=$(find "$KSV_SOURCE_DIR/samples" -name '*.xen' | LC_ALL=C sort | head -n 1)
[ -n "$sample" ] || fail "there is no sample to open"
deb=$(find "$build" -maxdepth 1 -name '*.deb')
[ -f "$deb" ] || fail "there is no package: the test package.build makes it"
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
pid=''
restore()
{
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || :
	ksv_display_stop
	dpkg --purge kshark-virt >/dev/null 2>&1 || echo "kshark-virt cannot be removed" >&2
}
trap restore EXIT
dpkg -i "$deb" || fail "dpkg does not install the package"
unset LD_LIBRARY_PATH
cd /
/usr/bin/kshark-virt --version || fail "the installed command does not run"
ldconfig -p | grep -F libkshark-virt.so.0 || fail "the dynamic linker does not know the library"
# shellcheck disable=SC2046
cc -Wall -Werror -o "$build/example" "$KSV_SOURCE_DIR/examples/xentrace_stat.c" \
	$(pkg-config --cflags --libs kshark-virt) || fail "the installed library cannot be used"
"$build/example" "$sample" || fail "the installed library does not read $sample"

echo "== kernelshark -p xentrace,virt $sample"
coloured() # PICTURE: number of pixels in a bright colour
{
	convert "$1" -colorspace HSB -channel G -separate -threshold 40% -format \
		'%[fx:int(mean*w*h)]' info:
}
ksv_display_start || fail "no display"
log=$KSV_ARTIFACTS/package-deb.log
kernelshark </dev/null >"$log" 2>&1 &
pid=$!
# asked but once: while it starts, the window may go and come again
find_window() { window=$(ksv_window '^Kernel Shark$'); }
ksv_wait 60 find_window || fail "KernelShark does not start"
xdotool windowmove "$window" 0 0 windowsize "$window" 100% 100%
ksv_wait_still 60 || fail "the screen does not come to rest"
ksv_screenshot "$KSV_ARTIFACTS/package-deb-empty.png"
kill "$pid"
wait "$pid" || :
kernelshark -p xentrace,virt "$sample" </dev/null >"$log" 2>&1 &
pid=$!
if ! ksv_wait_loaded "$pid" "$sample" 90 "$log"; then
	ksv_screenshot "$KSV_ARTIFACTS/package-deb.png" || :
	cat "$log" >&2
	fail "KernelShark does not open the sample with the installed plugin"
fi
ksv_screenshot "$KSV_ARTIFACTS/package-deb.png"
for file in "$libdir/kernelshark/plugins/plugin-xentrace.so" \
	    "$libdir/kernelshark/plugins/plugin-virt.so" "$libdir/libkshark-virt.so.0"; do
	grep -qF "$file" "/proc/$pid/maps" || fail "KernelShark has not loaded $file"
done
empty=$(coloured "$KSV_ARTIFACTS/package-deb-empty.png")
loaded=$(coloured "$KSV_ARTIFACTS/package-deb.png")
echo "coloured pixels: $empty without a file, $loaded with the sample"
[ "$loaded" -gt $((empty + 5000)) ] || fail "nothing is drawn; see package-deb.png"
kill "$pid"
wait "$pid" || :
pid=''

echo "== remove"
dpkg --purge kshark-virt || fail "the package cannot be removed"
trap - EXIT
ksv_display_stop
while read -r file; do
	[ ! -e "$file" ] || fail "$file is still there"
done <"$build/files"
[ ! -e "$libdir/libkshark-virt.so.0" ] || fail "the library is still there"
[ ! -e /usr/include/kshark-virt ] || fail "/usr/include/kshark-virt is still there"
ldconfig -p | grep -F libkshark-virt && fail "the dynamic linker still knows the library"
[ "$(verify_host)" = "$host_before" ] || fail "KernelShark's own files have changed: $(verify_host)"
echo "passed"
