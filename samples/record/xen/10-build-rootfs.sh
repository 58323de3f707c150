#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# 10-build-rootfs.sh WORKDIR
# Builds, from Debian 12 packages alone, the dom0 root tree, the dom0 disk image
# and the small early initramfs that mounts it, plus the busybox-only domU initramfs.
#
# Result in WORKDIR/build:
#   xen            the hypervisor, unzipped (qemu's multiboot loader needs it unzipped)
#   vmlinux        Debian's 6.1 kernel: used for dom0 and for every domU
#   dom0.initrd    busybox + the virtio/ext4 modules, switches root to /dev/vda
#   domu.initrd    busybox + the domU workload /init (also copied into the dom0 tree)
#   dom0.img       ext4 root of dom0 (xl, xentrace, xenalyze, trace-cmd)
set -euo pipefail
WORK=$(realpath "${1:?usage: $0 WORKDIR}")
HERE=$(dirname "$(realpath "$0")")
B=$WORK/build
ROOT=$B/rootfs
mkdir -p "$B"

# ---- 1. dom0 tree -----------------------------------------------------------------
# The security suite carries the newest Xen 4.17; hypervisor, tools and kernel come from
# the same place so that their versions match.  qemu-system-xen + seabios: only for HVM domUs.
# The package source is the one this machine's apt uses.
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' | head -1)}; MIRROR=${MIRROR%/}
PKGS="xen-hypervisor-4.17-amd64 xen-utils-4.17 xenstore-utils linux-image-amd64 trace-cmd
      iproute2 procps qemu-system-xen seabios ipxe-qemu"
if [ ! -e "$ROOT/.base" ]; then
    rm -rf "$ROOT"
    debootstrap --variant=minbase --include=busybox-static,kmod,ca-certificates \
        bookworm "$ROOT" $MIRROR
    cat > "$ROOT/etc/apt/sources.list" <<LIST
deb $MIRROR bookworm main
deb $MIRROR bookworm-updates main
deb ${MIRROR}-security bookworm-security main
LIST
    # No service may start inside the chroot.
    printf '#!/bin/sh\nexit 101\n' > "$ROOT/usr/sbin/policy-rc.d"
    chmod +x "$ROOT/usr/sbin/policy-rc.d"
    touch "$ROOT/.base"
fi
if [ "$(cat "$ROOT/.packages" 2>/dev/null)" != "$PKGS" ]; then
    # The initramfs of initramfs-tools is not needed (INITRD=No); ours is built below.
    PKGS="$PKGS" chroot "$ROOT" /bin/sh -ec '
        export DEBIAN_FRONTEND=noninteractive INITRD=No
        apt-get update -q
        apt-get install -y -q --no-install-recommends $PKGS
        apt-get clean
        dpkg-query -W > /packages.txt'
    echo "$PKGS" > "$ROOT/.packages"
fi
cp "$ROOT/packages.txt" "$B/packages.txt"

KVER=$(basename "$(ls -d "$ROOT"/lib/modules/*-amd64 | sort -V | tail -1)")
# The kernel is used uncompressed: unpacking its xz under TCG, inside Xen (dom0) and inside
# xl create (domU), costs 5-20 s each time.  (xz complains about the bytes that follow.)
V=$ROOT/boot/vmlinuz-$KVER
pos=$(LC_ALL=C grep -obUaP '\xFD7zXZ\x00' "$V" | head -1 | cut -d: -f1)
tail -c +$((pos+1)) "$V" | xz -dc > "$B/vmlinux" 2>/dev/null || true
readelf -n "$B/vmlinux" 2>/dev/null | grep -q Xen || { echo "no usable vmlinux"; exit 1; }
gunzip -c "$ROOT"/boot/xen-4.17-amd64.gz > "$B/xen"

# ---- 2. domU initramfs ------------------------------------------------------------
gcc -O2 -static -o "$B/labload" "$HERE/guest/labload.c"
D=$B/domu; rm -rf "$D"
mkdir -p "$D"/{bin,usr/bin,proc,sys,dev,tmp,lib/modules}
cp "$ROOT/bin/busybox" "$B/labload" "$D/bin/"
cp "$HERE/guest/domu-init" "$D/init"; chmod +x "$D/init"
( cd "$D" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/domu.initrd"
# The same plus trace-cmd and its shared libraries, for the domU that runs ftrace.
cp "$ROOT/usr/bin/trace-cmd" "$D/usr/bin/"
chroot "$ROOT" ldd /usr/bin/trace-cmd | grep -o '/[^ ]*' | while read -r l; do
    mkdir -p "$D$(dirname "$l")"; cp -L "$ROOT$l" "$D$l"
done
( cd "$D" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/domu-ft.initrd"

# ---- 3. dom0 early initramfs ------------------------------------------------------
E=$B/early; rm -rf "$E"
mkdir -p "$E"/{bin,proc,sys,dev,newroot,lib/modules}
cp "$ROOT/bin/busybox" "$E/bin/busybox"
# modprobe --show-depends lists the files in load order.
for m in virtio_pci virtio_blk ext4; do
    chroot "$ROOT" modprobe -S "$KVER" --show-depends "$m"
done | awk '$1=="insmod"{print $2}' | awk '!seen[$0]++' > "$E/modules.order"
n=0
while read -r f; do
    n=$((n+1)); cp "$ROOT$f" "$E/lib/modules/$(printf %02d $n)-$(basename "$f")"
done < "$E/modules.order"
cp "$HERE/guest/early-init" "$E/init"; chmod +x "$E/init"
( cd "$E" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/dom0.initrd"

# ---- 4. dom0 disk -----------------------------------------------------------------
mkdir -p "$ROOT/lab"
cp "$V" "$ROOT/lab/vmlinuz"          # HVM domUs boot the packed kernel through SeaBIOS
cp "$B/vmlinux" "$B/domu.initrd" "$B/domu-ft.initrd" "$ROOT/lab/"
cp "$B/labload" "$ROOT/usr/bin/"
cp "$HERE/guest/dom0-init" "$ROOT/lab/init"; chmod +x "$ROOT/lab/init"
rm -f "$B/dom0.img"
truncate -s 1800M "$B/dom0.img"
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=1 -d "$ROOT" "$B/dom0.img"
echo "built: xen, vmlinux ($KVER), dom0.initrd, domu.initrd, domu-ft.initrd, dom0.img"
