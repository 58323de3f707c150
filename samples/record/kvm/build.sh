#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh WORKDIR [tracers]: build everything the lab boots, from Debian packages alone; with perf and LTTng for
# the scenarios that say so ("# needs: tracers")
#
#   WORKDIR/root        a Debian by mmdebstrap: the L1 ("host") root, also the source of all binaries
#   WORKDIR/vmlinuz     the Debian kernel (used for L1 and for L2)
#   WORKDIR/l1.ext4     the L1 root as a disk image
#   WORKDIR/l1-initrd   small initramfs that loads virtio_blk + ext4 and switches to the disk
#   WORKDIR/l2-initrd   the whole L2 guest: busybox + trace-cmd + socat + hackbench + cyclictest + dropbear + modules
#
# RELEASE in the environment: bookworm (if it is not set: Debian 12, Linux 6.1) or trixie (13, 6.12).
# Needs: root, mmdebstrap, e2fsprogs, busybox-static, cpio (busybox's is used), gcc. About 6 minutes.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
WORK=${1:?usage: build.sh WORKDIR}
RELEASE=${RELEASE:-bookworm}
case $RELEASE in bookworm | trixie) ;; *) echo "RELEASE=$RELEASE: only bookworm and trixie are known" >&2; exit 2 ;; esac
# the one this machine's apt uses
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -1)}; MIRROR=${MIRROR%/}
mkdir -p "$WORK"; WORK=$(readlink -f "$WORK"); cd "$WORK"

# --- 1. Debian root with the packages ------------------------------------------------------
PACKAGES="linux-image-amd64 linux-headers-amd64 make kmod qemu-system-x86 trace-cmd busybox-static socat rt-tests
    util-linux procps python3-minimal openssh-client dropbear-bin iproute2"
[ -e root/etc/debian_version ] || mmdebstrap --variant=minbase "$RELEASE" root "$MIRROR"
grep -q "VERSION_CODENAME=$RELEASE" root/etc/os-release || { echo "$WORK: this lab is of another Debian; choose another folder for $RELEASE" >&2; exit 2; }
if [ "$(cat root/.packages-done 2>/dev/null)" != "$PACKAGES" ]; then
    cat > root/etc/apt/sources.list <<S
deb $MIRROR $RELEASE main
deb $MIRROR $RELEASE-updates main
deb ${MIRROR}-security $RELEASE-security main
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

if [ "${2:-}" = tracers ] && [ ! -e root/.tracers-done ]; then
    export DEBIAN_FRONTEND=noninteractive
    chroot root apt-get install -y --no-install-recommends linux-perf lttng-tools
    chroot root sh -c 'cd /tmp; apt-get download lttng-modules-dkms; dpkg -x lttng-modules-dkms_*.deb /; rm lttng-modules-dkms_*.deb; apt-get clean'
    # LTTng 2.13.9 declares hrtimer_start as it was before an update of Debian 12's kernel, and does not compile
    [ "$RELEASE" != bookworm ] || sed -i '/lttng-probe-timer\.o/d' root/usr/src/lttng-modules-*/src/probes/Kbuild
    # LTTng's probes of KVM need headers that Debian's packages of headers lack
    chroot root sh -c "cd /tmp; apt-get download linux-source-$(cut -d. -f1,2 <<< "$KVER")"
    dpkg --fsys-tarfile root/tmp/linux-source-*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
        tar -xJ -C root/tmp --wildcards '*/arch/x86/kvm/*.h' '*/virt/kvm/*.h'
    cp -r root/tmp/linux-source-*/{arch,virt} "root$(chroot root readlink -f /lib/modules/"$KVER"/source)/"
    rm -r root/tmp/linux-source-*
    chroot root sh -c "make -C /lib/modules/$KVER/build M=\$(echo /usr/src/lttng-modules-*) CONFIG_LTTNG=m INSTALL_MOD_DIR=updates modules modules_install"
    chroot root depmod "$KVER"
    touch root/.tracers-done
fi

# --- 2. the hypercall modules ----------------------------------------------------------------
rm -rf root/usr/src/kvmhc; cp -r "$HERE/l2/kvmhc" root/usr/src/kvmhc
chroot root make -C /lib/modules/"$KVER"/build M=/usr/src/kvmhc modules
rm -rf root/usr/src/hypertrace
install -D -m 644 -t root/usr/src/hypertrace "$HERE"/../../../guest/ht*.[ch] "$HERE"/../../../guest/Makefile
install -D -m 644 -t root/usr/src/hypertrace/wire "$HERE"/../../../hypertrace/wire/*.[ch]
chroot root make -C /usr/src/hypertrace KDIR=/lib/modules/"$KVER"/build

# copy_modules DIR LIST MODULE...: them and everything they depend on into DIR/modules; names in load order go to DIR/LIST
copy_modules() {
    local dir=$1 list=$1/$2; shift 2
    mkdir -p "$dir/modules"; : > "$list"
    local m f name
    for m in "$@"; do
        chroot root modprobe -S "$KVER" --show-depends "$m" | { grep '^insmod' || :; } | while read -r _ f _; do
            name=$(basename "$f" .xz)
            ! grep -qx "$name" "$list" || continue
            # busybox does not unpack them
            case $f in *.xz) xz -dc "root$f" > "$dir/modules/$name" ;; *) cp "root$f" "$dir/modules/" ;; esac
            echo "$name" >> "$list"
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
copy_modules i1 modules.list virtio_pci virtio_blk ext4
install -m755 "$HERE/l1/initrd-init" i1/init
pack i1 l1-initrd

# --- 4. L2 initramfs -------------------------------------------------------------------------
rm -rf i2; mkdir -p i2/{bin,dev,proc,sys,tmp,root,var/run,run}
cp root/bin/busybox i2/bin/busybox
copy_modules i2 modules.list virtio_pci virtio_mmio vmw_vsock_virtio_transport ptp_kvm
# L1's files, for those scenarios that run its programs in the guest: host.sh
copy_modules i2 host.list 9pnet_virtio 9p
# a disk and a network, for those that need them: kvm-waits.sh
copy_modules i2 devices.list virtio_blk virtio_net
for b in /bin/dd /usr/bin/trace-cmd /usr/bin/socat /usr/bin/hackbench /usr/bin/cyclictest /usr/sbin/dropbear; do copy_bin i2 "$b"; done
mkdir -p i2/etc/dropbear; echo 'root::0:0:root:/root:/bin/sh' > i2/etc/passwd   # for sshd
strip -d root/usr/src/hypertrace/hypertrace.ko; cp root/usr/src/hypertrace/hypertrace.ko i2/modules/
cp root/usr/src/kvmhc/kvmhc.ko i2/modules/; echo kvmhc.ko >> i2/modules.list
gcc -O2 -Wall -static -pthread -o i2/bin/events "$HERE/l2/events.c"
install -m755 "$HERE/l2/init" i2/init; install -m755 "$HERE/l2/work.sh" i2/work.sh
pack i2 l2-initrd

# --- 5. L1 disk ------------------------------------------------------------------------------
mkdir -p root/lab
install -m755 "$HERE/l1/init" root/lab/init; cp root/usr/src/hypertrace/hypertrace.ko i2/bin/events root/lab/
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
