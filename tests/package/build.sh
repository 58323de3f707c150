#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Build the Debian packages with dpkg-buildpackage and check what is in them; install the same elsewhere and
# remove it. Nothing here disturbs other tests: deb.sh goes on with the packages.
set -euo pipefail

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }

for tool in dpkg-buildpackage dh dpkg-deb; do
	command -v "$tool" >/dev/null || skip "$tool is missing (Debian: apt-get install debhelper dpkg-dev)"
done
place=$KSV_BUILD_DIR/package source=$place/source
rm -rf "$place"
mkdir -p "$source"

# copy_tree FOLDER: the sources of a release that are built; neither samples nor tests are
copy_tree()
{
	tar -c -C "$KSV_SOURCE_DIR" --exclude ./build --exclude './build-*' --exclude ./.git \
		--exclude ./samples --exclude ./tests . | tar -x -C "$1"
}

echo "== build"
copy_tree "$source"
export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache}
# one job: other tests run at the same time. Optimizing and debug information take half of the time, and
# no check here is about them.
export DEB_BUILD_OPTIONS='parallel=1 noautodbgsym' DEB_CFLAGS_APPEND='-O1 -g0' DEB_CXXFLAGS_APPEND='-O1 -g0'
(cd "$source" && umask 022 && dpkg-buildpackage -us -uc -b) >"$place/build.log" 2>&1 ||
	{ tail -n 60 "$place/build.log"; fail "dpkg-buildpackage, see above and $place/build.log"; }
build=$source/obj-$(dpkg-architecture -qDEB_HOST_GNU_TYPE)
packages="kshark-virt kshark-virt-plugins libkshark-virt-dev libkshark-virt0"
debs=()
for package in $packages; do
	mapfile -O ${#debs[@]} -t debs < <(find "$place" -maxdepth 1 -name "${package}_*.deb")
	[ -f "${debs[-1]}" ] || fail "there is no package $package"
	dpkg-deb --info "${debs[-1]}"
done

echo "== the same bytes, whenever and wherever it is built"
once=$(cat "${debs[@]}" | sha256sum)
(cd "$source" && umask 022 && dh_prep && rm -f debian/*.debhelper.log && debian/rules binary) \
	>"$place/again.log" 2>&1 || { tail -n 30 "$place/again.log"; fail "debian/rules binary"; }
[ "$(cat "${debs[@]}" | sha256sum)" = "$once" ] || fail "packed a second time, packages differ"
# as from a tarball: without git, with no network where that can be had, and with debug information
alone=()
unshare -rn true 2>/dev/null && alone=(unshare -rn)
for copy in "$place/here" "$place/over there"; do
	mkdir "$copy"
	copy_tree "$copy"
	"${alone[@]}" cmake -S "$copy" -B "$copy/build" -G Ninja -DKSHARK_VIRT_TESTS=OFF \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
	"${alone[@]}" cmake --build "$copy/build" -j 1 --target xen-file >/dev/null
done
(cd "$place/here/build" && find xen-input -name '*.o' -exec sha256sum {} +) >"$place/objects"
[ -s "$place/objects" ] || fail "no object is compared"
(cd "$place/over there/build" && sha256sum --quiet -c "$place/objects") ||
	fail "what is built elsewhere has other bytes"
rm -r "$place/here" "$place/over there"
# an installed file would have the path of the build
ours=$(find "$build" -name CMakeFiles -prune -o \( -name '*.so' -o -name kshark-virt \) -type f -print)
[ -n "$ours" ] || fail "nothing is linked"
while read -r file; do
	! readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -F "$build" ||
		fail "$file has the path of its build in it"
done <<<"$ours"

echo "== install elsewhere, and remove it"
rm -rf "$place/elsewhere"
DESTDIR=$place/elsewhere cmake --install "$build" >/dev/null
[ -x "$place/elsewhere/usr/bin/kshark-virt" ] || fail "cmake --install has installed no command"
DESTDIR=$place/elsewhere cmake --build "$build" --target uninstall >/dev/null
# what the system has anyway: /usr/bin and the like, and two that are deeper
left=$(cd "$place/elsewhere" && find . ! -type d -o -mindepth 3 \
	! -path ./usr/share/man ! -path "./usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)")
[ -z "$left" ] || fail "uninstall leaves: $left"
rm -r "$place/elsewhere"

echo "== the same, from below a prefix that is chosen last; what is around it stays"
mkdir "$place/elsewhere"
cmake --install "$build" --prefix "$place/elsewhere/chosen" >/dev/null
PKG_CONFIG_PATH=$place/elsewhere/chosen/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/pkgconfig
export PKG_CONFIG_PATH
[ "$(cd "$(pkg-config --variable=includedir kshark-virt)" && pwd -P)" = \
	"$(readlink -f "$place/elsewhere/chosen/include")" ] || fail "pkg-config names another place"
cmake --build "$build" --target uninstall >/dev/null
[ -d "$place/elsewhere" ] || fail "uninstall removes the folder around the prefix"
left=$(find "$place/elsewhere/chosen" -mindepth 1)
[ -z "$left" ] || fail "uninstall leaves: $left"
rm -r "$place/elsewhere"

echo "== content"
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
: >"$place/files"
# holds PACKAGE FILE...: it has these files, and its files are added to the list
holds()
{
	local file deb

	deb=$(find "$place" -maxdepth 1 -name "$1_*.deb")
	dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's/^\.//' | grep -v '/$' >"$place/files.one"
	for file in "${@:2}"; do
		grep -qxF "$file" "$place/files.one" || fail "the package $1 lacks $file"
	done
	cat "$place/files.one" >>"$place/files"
}
holds kshark-virt /usr/bin/kshark-virt /usr/libexec/kshark-virt/kshark-virt-xen-meta \
	/usr/libexec/kshark-virt/kshark-virt-cairo.so /usr/libexec/kshark-virt/kshark-virt-ctf.so \
	/usr/libexec/kshark-virt/kshark-virt-convert /usr/libexec/kshark-virt/kshark-virt-read \
	/usr/share/man/man1/kshark-virt.1.gz /usr/share/man/man5/kshark-virt-sidecar.5.gz \
	/usr/share/bash-completion/completions/kshark-virt /usr/share/doc/kshark-virt/copyright \
	/usr/share/zsh/vendor-completions/_kshark-virt \
	/usr/share/fish/vendor_completions.d/kshark-virt.fish \
	/usr/share/doc/kshark-virt/kshark-virt.spdx /usr/lib/systemd/system/kshark-virt-flight.service
holds kshark-virt-plugins "$libdir/kernelshark/plugins/plugin-xentrace.so" \
	"$libdir/kernelshark/plugins/plugin-hypertrace.so" \
	"$libdir/kernelshark/plugins/plugin-lttng.so" \
	"$libdir/kernelshark/plugins/plugin-qemu.so" "$libdir/kernelshark/plugins/plugin-virt.so" \
	"$libdir/kshark-virt/plugins/plugin-kvm_combo.so" \
	/usr/share/applications/kshark-virt.desktop \
	/usr/share/metainfo/org.example.kshark_virt.metainfo.xml \
	/usr/share/icons/hicolor/scalable/apps/kshark-virt.svg \
	/usr/share/mime/packages/kshark-virt.xml
holds libkshark-virt0 "$libdir/libkshark-virt.so.0"
holds libkshark-virt-dev "$libdir/libkshark-virt.so" "$libdir/pkgconfig/kshark-virt.pc" \
	"$libdir/cmake/kshark-virt/kshark-virt-config.cmake" \
	/usr/include/kshark-virt/xentrace_reader.h

echo "== how its programs and libraries are built"
for deb in "${debs[@]}"; do
	dpkg-deb -x "$deb" "$place/unpacked"
done
"$KSV_SOURCE_DIR/tests/meta/elf" "$place/unpacked" || fail "a file in the packages is not hardened"
rm -r "$place/unpacked"

# needs PACKAGE DEPENDENCY...: it depends on these
needs()
{
	local depends package

	depends=$(dpkg-deb -f "$(find "$place" -maxdepth 1 -name "$1_*.deb")" Depends)
	for package in "${@:2}"; do
		[[ ", $depends," == *", $package"[,\ .\)]* ]] ||
			fail "the dependencies of $1 lack $package: $depends"
	done
}
needs kshark-virt libkshark-virt0 libcairo2 libjson-c5 libc6
needs libkshark-virt0 libjson-c5 libzstd1 zlib1g libc6
needs libkshark-virt-dev libkshark-virt0
# the plugins fit the window they were built for, and no other
release=$(dpkg-query -W -f '${Version}' libkshark-dev | grep -oE '^[0-9]+\.[0-9]+')
needs kshark-virt-plugins kshark-virt kernelshark "libkshark2 (>= $release" \
	"libkshark2 (<< ${release%.*}.$((${release#*.} + 1))~)"

if command -v lintian >/dev/null; then
	echo "== lintian"
	lintian --allow-root --tag-display-limit 0 --fail-on error,warning "${debs[@]}" ||
		fail "lintian complains"
fi
