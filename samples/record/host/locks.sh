#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# locks.sh OUT.dat: record waits for the kernel's locks on this machine, as root, into buffers of its own: a virtual
# machine reads blocks of a file that several dd write at once.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
if [ "${1:-}" = work ]; then
	"$2/machine" "$2/a" 150 &
	for _ in 1 2 3 4; do
		dd if=/dev/zero of="$2/a" conv=notrunc bs=4M count=4 status=none &
		dd if=/dev/zero of="$2/a" conv=notrunc,fsync bs=4M count=4 status=none
	done
	wait
	exit
fi
make_folder a
trace-cmd record -B locks -e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_userspace_exit \
	-e lock:contention_begin -e lock:contention_end -o "$1" "$0" work "$folder"
