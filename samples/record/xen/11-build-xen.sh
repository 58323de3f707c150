#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# 11-build-xen.sh WORKDIR
# Debian's hypervisor has only the credit and credit2 schedulers compiled in.  This builds the
# hypervisor (not the tools) from Debian's Xen 4.17 source package with Debian's configuration
# plus the rtds, null and arinc653 schedulers -> WORKDIR/build/xen-sched.
# Needs: dpkg-dev flex bison (and gcc, make, python3).  3-8 minutes.
# (The security suite's newer source is tried first and may be absent from a mirror; the
# bookworm main one has the same control interface, so the 4.17 tools work with it.)
set -euo pipefail
WORK=$(realpath "${1:?usage: $0 WORKDIR}"); B=$WORK/build; S=$B/xen-src
mkdir -p "$S/apt/lists/partial"; cd "$S"
if [ ! -d src ]; then
    MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' | head -1)}; MIRROR=${MIRROR%/}
    printf 'deb-src %s bookworm main\ndeb-src %s-security bookworm-security main\n' "$MIRROR" "$MIRROR" > sources.list
    APT=(-o "Dir::Etc::sourcelist=$S/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$S/apt/lists"
         -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    apt-get "${APT[@]}" update -q
    for v in $(apt-cache "${APT[@]}" showsrc xen | awk '/^Version:/{print $2}' | sort -Vr); do
        apt-get "${APT[@]}" source --download-only "xen=$v" && break
    done
    dpkg-source -x xen_*.dsc src
fi
cd src/xen
gunzip -c "$B/rootfs/boot/xen-4.17-amd64.config.gz" > .config 2>/dev/null || cp "$B/rootfs/boot/xen-4.17-amd64.config" .config
printf 'CONFIG_%s=y\n' EXPERT UNSUPPORTED SCHED_RTDS SCHED_NULL SCHED_ARINC653 >> .config
make XEN_TARGET_ARCH=x86_64 olddefconfig
make XEN_TARGET_ARCH=x86_64 -j"$(nproc)"
cp xen "$B/xen-sched"
echo "built: $B/xen-sched"
