#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# samples.sh FOLDER: record this machine with kshark-virt, as root, into FOLDER, and beside it what /proc and vmstat say
# at the same time (FOLDER.proc.txt): a virtual machine and dd use a disk, a task needs memory.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
here=$(dirname "$(readlink -f "$0")")
if [ "${1:-}" = work ]; then
	sleep 1
	"$2/machine" "$2/a" 100
	dd if=/dev/zero of="$2/a" conv=notrunc,fsync bs=1M count=16 status=none
	dd if=/dev/zero of=/dev/null bs=400M count=2 status=none
	sleep 1
	exit
fi
make_folder a
"$here/proc.py" "$1.proc.txt" 6 &
sleep 0.5
record_few "$1" sched/sched_switch kvm/kvm_entry kvm/kvm_userspace_exit -- "$0" work "$folder"
wait
"$here/names.py" "$1/host.dat"
