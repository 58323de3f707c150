#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Build the Debian package, install it, open a sample with the installed plugin, remove it. What
# was there before is there afterwards.
set -euo pipefail
# shellcheck source=../../scripts/display.sh
. "$KSV_SOURCE_DIR/scripts/display.sh"

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "only root may install a package"
for tool in dpkg-deb dpkg-shlibdeps kernelshark Xvfb openbox xdotool import; do
	command -v "$tool" >/dev/null || skip "$tool is missing"
done
status=$(dpkg-query -W -f '${db:Status-Status}' kshark-virt 2>/dev/null || :)
[ -z "$status" ] || [ "$status" = not-installed ] ||
	skip "the package kshark-virt is $status here already and must not be touched"

build=$KSV_BUILD_DIR/package
sample=$(find "$KSV_SOURCE_DIR/samples" -name '*.xen' | LC_ALL=C sort | head -n 1)
[ -n "$sample" ] || fail "there is no sample to open"

echo "== build"
cmake -S "$KSV_SOURCE_DIR" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DCMAKE_INSTALL_PREFIX=/usr -DKSHARK_VIRT_TESTS=OFF
cmake --build "$build"
rm -f "$build"/*.deb
(umask 022 && cd "$build" && cpack)
deb=$(find "$build" -maxdepth 1 -name '*.deb')
[ -f "$deb" ] || fail "cpack has made no package, or several"
dpkg-deb --info "$deb"

echo "== install elsewhere, and remove it"
rm -rf "$build/elsewhere"
DESTDIR=$build/elsewhere cmake --install "$build" >/dev/null
[ -x "$build/elsewhere/usr/bin/kshark-virt" ] || fail "cmake --install has installed no command"
DESTDIR=$build/elsewhere cmake --build "$build" --target uninstall >/dev/null
# what the system has anyway: /usr/bin and the like, and two that are deeper
left=$(cd "$build/elsewhere" && find . ! -type d -o -mindepth 3 \
	! -path ./usr/share/man ! -path "./usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)")
[ -z "$left" ] || fail "uninstall leaves: $left"
rm -r "$build/elsewhere"

echo "== content"
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's/^\.//' | grep -v '/$' | LC_ALL=C sort \
	>"$build/files"
for file in /usr/bin/kshark-virt "$libdir/kernelshark/plugins/plugin-xentrace.so" \
	    "$libdir/kernelshark/plugins/plugin-virt.so" \
	    "$libdir/kshark-virt/plugins/plugin-kvm_combo.so" \
	    "$libdir/libkshark-virt.so.0" "$libdir/libkshark-virt.so" \
	    "$libdir/pkgconfig/kshark-virt.pc" /usr/include/kshark-virt/xentrace_reader.h \
	    /usr/share/man/man1/kshark-virt.1.gz /usr/share/doc/kshark-virt/copyright \
	    /usr/share/bash-completion/completions/kshark-virt \
	    /usr/share/applications/kshark-virt.desktop /usr/share/metainfo/kshark-virt.metainfo.xml \
	    /usr/share/icons/hicolor/scalable/apps/kshark-virt.svg \
	    /usr/share/mime/packages/kshark-virt.xml; do
	grep -qxF "$file" "$build/files" || fail "the package lacks $file"
done
while read -r file; do
	if dpkg-query -S "$file" 2>/dev/null; then
		fail "$file belongs to another package"
	elif [ -e "$file" ]; then
		fail "$file is there already, of unknown origin"
	fi
done <"$build/files"
depends=$(dpkg-deb -f "$deb" Depends)
for package in kernelshark libcairo2 libkshark2 libjson-c5 libzstd1 zlib1g libc6; do
	[[ ", $depends," == *", $package "* ]] || fail "the dependencies lack $package: $depends"
done
[[ "$depends" != *kshark-virt* ]] || fail "the package depends on itself: $depends"
[ -z "$(dpkg-deb -f "$deb" Conflicts Breaks Replaces)" ] || fail "the package conflicts"

if command -v lintian >/dev/null; then
	echo "== lintian"
	lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$deb" ||
		fail "lintian complains"
fi

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
