#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# disks.sh OUT.dat: record requests to disks on this machine, as root, into buffers of its own: a virtual machine reads
# blocks, beside it dd reads in a row, writes to a loop device, and writes files.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
if [ "${1:-}" = work ]; then
	"$2/machine" "$2/a" 120 &
	dd if="$2/b" of=/dev/null iflag=direct bs=64k count=160 status=none &
	dd if=/dev/zero of="$3" oflag=direct bs=16k count=40 status=none
	dd if=/dev/zero of="$2/c" bs=4k count=64 conv=fsync status=none
	wait
	exit
fi
make_folder a b
trap 'losetup -d "${loop:-}" 2> /dev/null; rm -rf "$folder"' EXIT
truncate -s 8M "$folder/loop"
loop=$(losetup -f --show "$folder/loop")
sync
events=(-e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_userspace_exit)
for event in rq_insert rq_issue rq_complete rq_requeue rq_merge bio_backmerge bio_frontmerge; do
	events+=(-e "block:block_$event")
done
trace-cmd record -B disks "${events[@]}" -o "$1" "$0" work "$folder" "$loop"
