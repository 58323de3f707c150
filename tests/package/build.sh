#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Build the Debian package, and look what is in it; install the same elsewhere and remove it. Nothing
# here disturbs other tests: deb.sh goes on with the package.
set -euo pipefail

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

for tool in dpkg-deb dpkg-shlibdeps; do
	command -v "$tool" >/dev/null || skip "$tool is missing"
done
build=$KSV_BUILD_DIR/package

echo "== build"
# as the preset "package", without what is stripped in the end
cmake -S "$KSV_SOURCE_DIR" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' \
	-DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' \
	-DCMAKE_INSTALL_PREFIX=/usr -DKSHARK_VIRT_TESTS=OFF
# one job: other tests run meanwhile
cmake --build "$build" -j 1
# pack EPOCH: as if it were that time
pack() { rm -f "$build"/*.deb; (umask 022 && cd "$build" && SOURCE_DATE_EPOCH=$1 cpack); }
pack 1000000000
deb=$(find "$build" -maxdepth 1 -name '*.deb')
[ -f "$deb" ] || fail "cpack has made no package, or several"
dpkg-deb --info "$deb"

echo "== the same bytes, whenever and wherever it is built"
once=$(sha256sum <"$deb")
pack 1000000000 >/dev/null
[ "$(sha256sum <"$deb")" = "$once" ] || fail "packed a second time, the package is another one"
# as from a tarball: without git, with no network where that can be had, and with debug information
alone=()
unshare -rn true 2>/dev/null && alone=(unshare -rn)
for place in "$build/here" "$build/over there"; do
	rm -rf "$place"
	mkdir "$place"
	tar -c -C "$KSV_SOURCE_DIR" --exclude ./build --exclude './build-*' --exclude ./.git \
		--exclude ./samples . | tar -x -C "$place"
	"${alone[@]}" cmake -S "$place" -B "$place/build" -G Ninja -DKSHARK_VIRT_TESTS=OFF \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
	"${alone[@]}" cmake --build "$place/build" -j 1 --target xen-file >/dev/null
done
(cd "$build/here/build" && find xen-input -name '*.o' -exec sha256sum {} +) >"$build/objects"
[ -s "$build/objects" ] || fail "no object is compared"
(cd "$build/over there/build" && sha256sum --quiet -c "$build/objects") ||
	fail "what is built elsewhere has other bytes"
rm -r "$build/here" "$build/over there"
# what is installed has room for this path, whatever it is then
ours=$(find "$build" -name CMakeFiles -prune -o \( -name '*.so' -o -name kshark-virt \) -type f -print)
[ -n "$ours" ] || fail "nothing is linked"
while read -r file; do
	! readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "$build" ||
		fail "$file has the path of its build in it"
done <<<"$ours"

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

echo "== the same, from below a prefix that is chosen last; what is around it stays"
mkdir "$build/elsewhere"
cmake --install "$build" --prefix "$build/elsewhere/chosen" >/dev/null
export PKG_CONFIG_PATH=$build/elsewhere/chosen/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/pkgconfig
[ "$(cd "$(pkg-config --variable=includedir kshark-virt)" && pwd -P)" = \
	"$(readlink -f "$build/elsewhere/chosen/include")" ] || fail "pkg-config tells of another place"
cmake --build "$build" --target uninstall >/dev/null
[ -d "$build/elsewhere" ] || fail "uninstall removes the folder around the prefix"
left=$(find "$build/elsewhere/chosen" -mindepth 1)
[ -z "$left" ] || fail "uninstall leaves: $left"
rm -r "$build/elsewhere"

echo "== content"
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's/^\.//' | grep -v '/$' | LC_ALL=C sort \
	>"$build/files"
for file in /usr/bin/kshark-virt "$libdir/kernelshark/plugins/plugin-xentrace.so" \
	"$libdir/kernelshark/plugins/plugin-hypertrace.so" \
	"$libdir/kernelshark/plugins/plugin-qemu.so" \
	    "$libdir/kernelshark/plugins/plugin-virt.so" \
	    "$libdir/kshark-virt/plugins/plugin-kvm_combo.so" \
	    /usr/libexec/kshark-virt/kshark-virt-xen-meta \
	    "$libdir/libkshark-virt.so.0" "$libdir/libkshark-virt.so" \
	    "$libdir/pkgconfig/kshark-virt.pc" /usr/include/kshark-virt/xentrace_reader.h \
	    /usr/share/man/man1/kshark-virt.1.gz /usr/share/doc/kshark-virt/copyright /usr/share/doc/kshark-virt/kshark-virt.spdx \
	    /usr/share/bash-completion/completions/kshark-virt \
	    /usr/share/applications/kshark-virt.desktop /usr/share/metainfo/kshark-virt.metainfo.xml \
	    /usr/share/icons/hicolor/scalable/apps/kshark-virt.svg \
	    /usr/share/mime/packages/kshark-virt.xml; do
	grep -qxF "$file" "$build/files" || fail "the package lacks $file"
done
echo "== how its programs and libraries are built"
rm -rf "$build/unpacked"
dpkg-deb -x "$deb" "$build/unpacked"
"$KSV_SOURCE_DIR/tests/meta/elf" "$build/unpacked" || fail "a file in the package is not hardened"
rm -r "$build/unpacked"
depends=$(dpkg-deb -f "$deb" Depends)
for package in kernelshark libcairo2 libkshark2 libjson-c5 libzstd1 zlib1g libc6; do
	[[ ", $depends," == *", $package "* ]] || fail "the dependencies lack $package: $depends"
done
# what was built for one release's window and Qt is not for the other's
release=$(dpkg-query -W -f '${Version}' libkshark-dev | grep -oE '^[0-9]+\.[0-9]+')
[[ "$depends" == *"libkshark2 (<< ${release%.*}.$((${release#*.} + 1))~)"* ]] ||
	fail "the package installs beside other windows than that of $release: $depends"
[[ "$depends" == *"libkshark2 (>= $release"* ]] || fail "it does so beside older ones: $depends"
[[ "$depends" != *kshark-virt* ]] || fail "the package depends on itself: $depends"
[ -z "$(dpkg-deb -f "$deb" Conflicts Breaks Replaces)" ] || fail "the package conflicts"

if command -v lintian >/dev/null; then
	echo "== lintian"
	lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$deb" ||
		fail "lintian complains"
fi
