#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh SCENARIO [WORKDIR]
# Builds the lab in WORKDIR (default: ./lab) unless it is there, boots it, records the
# scenario (scenarios/SCENARIO.sh) and writes WORKDIR/out/SCENARIO with the
# raw trace.xen, notes.txt and xenalyze's answers.   record.sh list: the scenarios.
set -euo pipefail
HERE=$(dirname "$(realpath "$0")")
S=${1:-list}; WORK=${2:-./lab}
if [ "$S" = list ]; then
    for f in "$HERE"/scenarios/*.sh; do sed -n '2s/^# //p' "$f"; done; exit 0
fi
SCN=$HERE/scenarios/$S.sh
[ -f "$SCN" ] || { echo "no scenario $S; try: $0 list"; exit 2; }
mkdir -p "$WORK"; WORK=$(realpath "$WORK")
for c in qemu-system-x86_64 debootstrap cpio gcc xz mkfs.ext4 xenalyze; do
    command -v $c >/dev/null || { echo "missing: $c (apt-get install --no-install-recommends" \
        "qemu-system-x86 debootstrap cpio gcc libc6-dev xz-utils e2fsprogs xen-utils-4.17)"; exit 2; }
done
# Rebuild the images when they are missing or any guest file is newer.
if [ ! -f "$WORK/build/dom0.img" ] || [ -n "$(find "$HERE/guest" "$HERE/10-build-rootfs.sh" -newer "$WORK/build/dom0.img" | head -1)" ]; then
    "$HERE/10-build-rootfs.sh" "$WORK"
fi
# Two scenarios need schedulers that Debian's hypervisor lacks.
if grep -q '^XEN_IMG=xen-sched' "$SCN" && [ ! -f "$WORK/build/xen-sched" ]; then
    "$HERE/11-build-xen.sh" "$WORK"
fi
"$HERE/20-boot.sh" "$WORK" "$S" "$SCN"
[ -s "$WORK/out/$S/trace.xen" ] || { echo "$S: no trace; see $WORK/out/$S/job.log and serial.log"; exit 1; }
"$HERE/30-oracle.sh" "$WORK/out/$S"
