#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh SCENARIO WORKDIR
# Builds the lab in WORKDIR unless it is there, boots it, records the scenario
# (scenarios/SCENARIO.sh) and writes WORKDIR/out/SCENARIO with the raw trace.xen,
# notes.txt and xenalyze's answers. What samples/record/record calls.
set -euo pipefail
HERE=$(dirname "$(realpath "$0")")
S=${1:?}; WORK=${2:?}
SCN=$HERE/scenarios/$S.sh
mkdir -p "$WORK"; WORK=$(realpath "$WORK")
# Rebuild the images when they are missing or any guest file is newer.
if [ ! -f "$WORK/build/dom0.img" ] || [ -n "$(find "$HERE/guest" "$HERE/10-build-rootfs.sh" -newer "$WORK/build/dom0.img" | head -1)" ]; then
    "$HERE/10-build-rootfs.sh" "$WORK"
fi
# Two scenarios need schedulers that Debian's hypervisor lacks.
if grep -q '^XEN_IMG=xen-sched' "$SCN" && [ ! -f "$WORK/build/xen-sched" ]; then
    "$HERE/11-build-xen.sh" "$WORK"
fi
"$HERE/20-boot.sh" "$WORK" "$S" "$SCN"
if ! [ -s "$WORK/out/$S/trace.xen" ]; then
    compgen -G "$WORK/out/$S/*/recording.json" > /dev/null && exit 0
    compgen -G "$WORK/out/$S/*/results.csv" > /dev/null && exit 0
    echo "$S: no trace; see $WORK/out/$S/job.log and serial.log"; exit 1
fi
"$HERE/30-oracle.sh" "$WORK/out/$S"
