#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# 10-build-rootfs.sh WORKDIR
# Builds, from the packages of one release of Debian alone ($RELEASE, bookworm if it is not set, or
# trixie), the dom0 root tree, the dom0 disk image and the small early initramfs that mounts it, plus
# the busybox-only domU initramfs.
#
# Result in WORKDIR/build:
#   xen            the hypervisor, unzipped (qemu's multiboot loader needs it unzipped)
#   vmlinux        Debian's kernel: used for dom0 and for every domU
#   dom0.initrd    busybox + the virtio/ext4 modules, switches root to /dev/vda
#   domu.initrd    busybox + the domU workload /init (also copied into the dom0 tree)
#   dom0.img       ext4 root of dom0 (xl, xentrace, xenalyze, trace-cmd)
set -euo pipefail
WORK=$(realpath "${1:?usage: $0 WORKDIR}")
HERE=$(dirname "$(realpath "$0")")
B=$WORK/build
ROOT=$B/rootfs
mkdir -p "$B"

RELEASE=${RELEASE:-bookworm}
case $RELEASE in
bookworm) XEN=4.17 ;;
trixie) XEN=4.20 ;;
*) echo "RELEASE=$RELEASE: only bookworm and trixie are known" >&2; exit 2 ;;
esac
if [ -e "$ROOT/.base" ] && [ "$(cat "$ROOT/.base")" != "$RELEASE" ]; then
    echo "$WORK: this lab is of Debian $(cat "$ROOT/.base"); choose another folder for $RELEASE" >&2
    exit 2
fi

# ---- 1. dom0 tree -----------------------------------------------------------------
# The security suite carries the newest Xen of a release; hypervisor, tools and kernel come from
# the same place so that their versions match.  qemu-system-xen + seabios: only for HVM domUs.
# The package source is the one this machine's apt uses.
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -1)}; MIRROR=${MIRROR%/}
PKGS="xen-hypervisor-$XEN-amd64 xen-utils-$XEN xenstore-utils linux-image-amd64 trace-cmd
      iproute2 procps qemu-system-xen seabios ipxe-qemu linux-headers-amd64 make openssh-client dropbear-bin rt-tests"
if [ ! -e "$ROOT/.base" ]; then
    rm -rf "$ROOT"
    debootstrap --variant=minbase --include=busybox-static,kmod,ca-certificates \
        "$RELEASE" "$ROOT" "$MIRROR"
    cat > "$ROOT/etc/apt/sources.list" <<LIST
deb $MIRROR $RELEASE main
deb $MIRROR $RELEASE-updates main
deb ${MIRROR}-security $RELEASE-security main
LIST
    # No service may start inside the chroot.
    printf '#!/bin/sh\nexit 101\n' > "$ROOT/usr/sbin/policy-rc.d"
    chmod +x "$ROOT/usr/sbin/policy-rc.d"
    echo "$RELEASE" > "$ROOT/.base"
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
# The kernel is used uncompressed: unpacking it under TCG, inside Xen (dom0) and inside xl create (domU),
# costs 5-20 s each time.  Where it lies in the file, the file's header says (Linux,
# Documentation/arch/x86/boot.rst); its size follows it, of which xz and zstd complain.
V=$ROOT/boot/vmlinuz-$KVER
number() { od -An -t "u$2" -j "$(($1))" -N "$2" "$V" | tr -d ' '; } # OFFSET BYTES
pos=$((($(number 0x1f1 1) + 1) * 512 + $(number 0x248 4)))
unpack=xz; [ "$(number $pos 4)" != $((0xfd2fb528)) ] || unpack=zstd
tail -c +$((pos+1)) "$V" | head -c "$(number 0x24c 4)" | $unpack -dc > "$B/vmlinux" 2>/dev/null || true
readelf -n "$B/vmlinux" 2>/dev/null | grep -q Xen || { echo "no usable vmlinux"; exit 1; }
gunzip -c "$ROOT/boot/xen-$XEN-amd64.gz" > "$B/xen"

# ---- the module by which guests report their events by hypercalls: /lab/hypertrace.ko
M=$ROOT/usr/src/hypertrace
rm -rf "$M"
install -D -m 644 -t "$M" "$HERE"/../../../guest/ht*.[ch] "$HERE"/../../../guest/Makefile
install -D -m 644 -t "$M/wire" "$HERE"/../../../hypertrace/wire/*.[ch]
chroot "$ROOT" make -C /usr/src/hypertrace KDIR=/lib/modules/"$KVER"/build
strip -d "$M/hypertrace.ko"

# ---- 2. domU initramfs ------------------------------------------------------------
gcc -O2 -static -o "$B/labload" "$HERE/guest/labload.c"
D=$B/domu; rm -rf "$D"
mkdir -p "$D"/{bin,usr/bin,proc,sys,dev,tmp,lib/modules}
cp "$ROOT/bin/busybox" "$B/labload" "$D/bin/"
cp "$HERE/guest/domu-init" "$D/init"; chmod +x "$D/init"
( cd "$D" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/domu.initrd"
# copy_bin PROGRAM: into a domU, with its shared libraries
copy_bin() {
    mkdir -p "$D$(dirname "$1")"; cp "$ROOT$1" "$D$1"
    chroot "$ROOT" ldd "$1" | grep -o '/[^ ]*' | while read -r l; do
        mkdir -p "$D$(dirname "$l")"; cp -L "$ROOT$l" "$D$l"
    done
}
# The same plus trace-cmd, for the domU that runs ftrace.
copy_bin /usr/bin/trace-cmd
mkdir -p "$D/lab"
cp "$M/hypertrace.ko" "$D/lab/"
( cd "$D" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/domu-ft.initrd"
# The same plus a network, an ssh server and benchmarks, for the domU that a study measures.
for b in /usr/sbin/dropbear /usr/bin/hackbench /usr/bin/cyclictest; do copy_bin $b; done
mkdir -p "$D/etc/dropbear" "$D/root/.ssh"; echo 'root::0:0:root:/root:/bin/sh' > "$D/etc/passwd"
chmod 700 "$D/root" "$D/root/.ssh"
chroot "$ROOT" modprobe -S "$KVER" --show-depends xen-netfront | awk '$1=="insmod"{print $2}' | while read -r f; do
    case $f in *.xz) xz -dc "$ROOT$f" > "$D/lib/modules/$(basename "$f" .xz)" ;; *) cp "$ROOT$f" "$D/lib/modules/" ;; esac
done
( cd "$D" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/domu-ssh.initrd"

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
    n=$((n+1)); ko=$E/lib/modules/$(printf %02d $n)-$(basename "$f" .xz)
    # busybox does not unpack them
    case $f in *.xz) xz -dc "$ROOT$f" > "$ko" ;; *) cp "$ROOT$f" "$ko" ;; esac
done < "$E/modules.order"
cp "$HERE/guest/early-init" "$E/init"; chmod +x "$E/init"
( cd "$E" && find . | cpio -o -H newc --quiet | gzip -1 ) > "$B/dom0.initrd"

# ---- 4. dom0 disk -----------------------------------------------------------------
mkdir -p "$ROOT/lab"
cp "$V" "$ROOT/lab/vmlinuz"          # HVM domUs boot the packed kernel through SeaBIOS
cp "$B/vmlinux" "$B/domu.initrd" "$B/domu-ft.initrd" "$B/domu-ssh.initrd" "$ROOT/lab/"
cp "$B/labload" "$ROOT/usr/bin/"
cp "$HERE/guest/dom0-init" "$ROOT/lab/init"; chmod +x "$ROOT/lab/init"
rm -f "$B/dom0.img"
truncate -s 1800M "$B/dom0.img"
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=1 -d "$ROOT" "$B/dom0.img"
echo "built: xen, vmlinux ($KVER), dom0.initrd, domu.initrd, domu-ft.initrd, dom0.img"
