#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh WORKDIR: build everything the lab boots, from Debian packages alone.
#
#   WORKDIR/root        debootstrap'd Debian 12: the L1 ("host") root, also the source of all binaries
#   WORKDIR/vmlinuz     the Debian kernel (used for L1 and for L2)
#   WORKDIR/l1.ext4     the L1 root as a disk image
#   WORKDIR/l1-initrd   small initramfs that loads virtio_blk + ext4 and switches to the disk
#   WORKDIR/l2-initrd   the whole L2 guest: busybox + trace-cmd + socat + hackbench + dropbear + modules
#
# Needs: root, debootstrap, e2fsprogs, busybox-static, cpio (busybox's is used). About 6 minutes.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
WORK=${1:?usage: build.sh WORKDIR}
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' | head -1)}; MIRROR=${MIRROR%/}   # the one this machine's apt uses
mkdir -p "$WORK"; WORK=$(readlink -f "$WORK"); cd "$WORK"

# --- 1. Debian root with the packages ------------------------------------------------------
PACKAGES="linux-image-amd64 linux-headers-amd64 make kmod qemu-system-x86 trace-cmd busybox-static socat rt-tests
    util-linux procps python3-minimal openssh-client dropbear-bin"
[ -e root/etc/debian_version ] || debootstrap --variant=minbase bookworm root "$MIRROR"
if [ "$(cat root/.packages-done 2>/dev/null)" != "$PACKAGES" ]; then
    cat > root/etc/apt/sources.list <<S
deb $MIRROR bookworm main
deb $MIRROR bookworm-updates main
deb ${MIRROR}-security bookworm-security main
S
    cp /etc/resolv.conf root/etc/resolv.conf 2>/dev/null || true
    export DEBIAN_FRONTEND=noninteractive
    chroot root apt-get update
    # shellcheck disable=SC2086
    chroot root apt-get install -y --no-install-recommends $PACKAGES
    chroot root apt-get clean
    echo "$PACKAGES" > root/.packages-done
fi
KVER=$(ls root/lib/modules | sort -V | tail -1)
cp root/boot/vmlinuz-"$KVER" vmlinuz
echo "kernel $KVER" > versions.txt
chroot root dpkg-query -W linux-image-amd64 qemu-system-x86 trace-cmd busybox-static rt-tests >> versions.txt

# --- 2. the hypercall modules ----------------------------------------------------------------
rm -rf root/usr/src/kvmhc; cp -r "$HERE/l2/kvmhc" root/usr/src/kvmhc
chroot root make -C /lib/modules/"$KVER"/build M=/usr/src/kvmhc modules
rm -rf root/usr/src/hypertrace
install -D -m 644 -t root/usr/src/hypertrace "$HERE"/../../../guest/ht*.[ch] "$HERE"/../../../guest/Makefile
install -D -m 644 -t root/usr/src/hypertrace/wire "$HERE"/../../../hypertrace/wire/*.[ch]
chroot root make -C /usr/src/hypertrace KDIR=/lib/modules/"$KVER"/build

# copy MODULE... and everything they depend on into DIR; a list in load order goes to DIR/modules.list
copy_modules() {
    local dir=$1; shift
    mkdir -p "$dir/modules"; : > "$dir/modules.list"
    local m f
    for m in "$@"; do
        chroot root modprobe -S "$KVER" --show-depends "$m" | grep '^insmod' | while read -r _ f _; do
            grep -qx "$(basename "$f")" "$dir/modules.list" && continue
            cp "root$f" "$dir/modules/"; basename "$f" >> "$dir/modules.list"
        done
    done
}
# copy a dynamically linked binary with its libraries
copy_bin() {
    local dir=$1 bin=$2 l
    install -D "root$bin" "$dir$bin"
    chroot root ldd "$bin" 2>/dev/null | grep -oE '/[^ ]+' | while read -r l; do
        [ -e "$dir$l" ] || install -D "root$l" "$dir$l"
    done
}
pack() { (cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) > "$2"; }

# --- 3. L1 initramfs -------------------------------------------------------------------------
rm -rf i1; mkdir -p i1/{bin,dev,proc,sys,newroot}
cp root/bin/busybox i1/bin/busybox
copy_modules i1 virtio_pci virtio_blk ext4
install -m755 "$HERE/l1/initrd-init" i1/init
pack i1 l1-initrd

# --- 4. L2 initramfs -------------------------------------------------------------------------
rm -rf i2; mkdir -p i2/{bin,dev,proc,sys,tmp,root,var/run,run}
cp root/bin/busybox i2/bin/busybox
copy_modules i2 virtio_pci virtio_mmio vmw_vsock_virtio_transport ptp_kvm
for b in /usr/bin/trace-cmd /usr/bin/socat /usr/bin/hackbench /usr/sbin/dropbear; do copy_bin i2 "$b"; done
mkdir -p i2/etc/dropbear; echo 'root::0:0:root:/root:/bin/sh' > i2/etc/passwd   # for sshd
strip -d root/usr/src/hypertrace/hypertrace.ko; cp root/usr/src/hypertrace/hypertrace.ko i2/modules/
cp root/usr/src/kvmhc/kvmhc.ko i2/modules/; echo kvmhc.ko >> i2/modules.list
install -m755 "$HERE/l2/init" i2/init; install -m755 "$HERE/l2/work.sh" i2/work.sh
pack i2 l2-initrd

# --- 5. L1 disk ------------------------------------------------------------------------------
mkdir -p root/lab
install -m755 "$HERE/l1/init" root/lab/init; cp root/usr/src/hypertrace/hypertrace.ko root/lab/
rm -f l1.ext4; mkdir -p share/lab; cp vmlinuz l2-initrd share/lab/
# the compiler, kernel headers and package caches are not needed inside L1: leave them out
rm -rf stage; mkdir stage
tar -C root --exclude=./usr/src --exclude=./usr/lib/gcc --exclude=./var/cache --exclude=./var/lib/apt \
    --exclude=./boot --exclude=./usr/share/doc --exclude=./usr/share/locale --exclude=./dev --exclude=./proc --exclude=./sys \
    -cf - . | tar -C stage -xf -
mkdir -p stage/{dev,proc,sys,share,run,tmp}
truncate -s 2G l1.ext4
mkfs.ext4 -q -F -O ^has_journal -d stage l1.ext4
rm -rf stage
touch .built
echo "built in $WORK: $(ls -sh vmlinuz l1-initrd l2-initrd l1.ext4 | tr '\n' ';')"
