#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh WORKDIR arm64|amd64: what is booted on such CPUs, from Debian packages alone
#
#   WORKDIR/ARCH/root      the packages, unpacked but not configured: nothing of them is run
#   WORKDIR/ARCH/vmlinuz   Debian's kernel
#   WORKDIR/ARCH/host      the tree of its initrd: busybox, trace-cmd, modules
#
# RELEASE in the environment: bookworm (if it is not set) or trixie. Needs mmdebstrap and kmod.
set -euo pipefail
WORK=${1:?usage: build.sh WORKDIR ARCH}; ARCH=${2:?}
RELEASE=${RELEASE:-bookworm}
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -1)}
case $ARCH in
arm64) modules="virtio_pci virtio_mmio virtio_blk" ;;
amd64) modules="ata_piix sd_mod kvm_intel" ;;
*) echo "$ARCH: only arm64 and amd64 are known" >&2; exit 2 ;;
esac
# what trace-cmd and kshark-virt need comes with them; libc is one of trace-cmd's
PACKAGES="linux-image-$ARCH busybox-static trace-cmd libtracecmd1 libjson-c5 libprotobuf-c1 libseccomp2 libsqlite3-0 libncursesw6 zlib1g"
mkdir -p "$WORK/$ARCH"; cd "$WORK/$ARCH"
if [ ! -e root/.done ]; then
    rm -rf root
    mmdebstrap --variant=extract --architectures="$ARCH" --include="${PACKAGES// /,}" "$RELEASE" root "$MIRROR"
    touch root/.done
fi
version=$(ls root/lib/modules)
cp root/boot/vmlinuz-"$version" vmlinuz

rm -rf host; mkdir -p host/{bin,dev,proc,sys,tmp,run,out,lab,modules,lib,etc}
cp root/bin/busybox host/bin/
cp root/usr/bin/trace-cmd host/bin/
# the libraries of trace-cmd and kshark-virt, which comes with what is in record.sh's LAB_FILES
cp -a root/lib/*-linux-gnu/lib{c,m,pthread,dl}.* root/usr/lib/*-linux-gnu/lib{trace,json-c,protobuf-c,seccomp,sqlite3,zstd}*.so.* host/lib/
cp -a root/lib/*-linux-gnu/lib{z,ncursesw,tinfo}.so.* root/usr/lib/*-linux-gnu/lib{z,ncursesw,tinfo}.so.* host/lib/ 2>/dev/null || :
# the loader, where the programs look for it
loader=$(cd root; echo lib*/ld-linux*); mkdir -p "host/${loader%/*}"; cp -L "root/$loader" "host/$loader"
depmod -b root "$version"
for module in $modules; do
    modprobe -S "$version" -d root --show-depends "$module" | while read -r word file _; do
        [ "$word" = insmod ] || continue
        name=$(basename "$file" .xz)
        [ ! -e "host/modules/$name" ] || continue
        # busybox does not unpack them
        case $file in *.xz) xz -dc "$file" > "host/modules/$name" ;; *) cp "$file" host/modules/ ;; esac
        echo "$name" >> host/modules.list
    done
done
touch .built
