#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# samples.sh FOLDER: record this machine with kshark-virt, as root, into FOLDER, and beside it what /proc and vmstat say
# at the same time (FOLDER.proc.txt): a virtual machine and dd use a disk, a task needs memory. In a mount namespace of
# its own, the kernel has only a few events and no symbols: a trace contains the formats of all.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
here=$(dirname "$(readlink -f "$0")")
tracing=/sys/kernel/tracing events=(sched/sched_switch kvm/kvm_entry kvm/kvm_userspace_exit)
if [ "${1:-}" = work ]; then
	sleep 1
	"$2/machine" "$2/a" 100
	dd if=/dev/zero of="$2/a" conv=notrunc,fsync bs=1M count=16 status=none
	dd if=/dev/zero of=/dev/null bs=400M count=2 status=none
	sleep 1
	exit
elif [ "${1:-}" = record ]; then
	mount --bind "$3/events" "$tracing/events"
	echo > "$3/kallsyms"
	mount --bind "$3/kallsyms" /proc/kallsyms
	kshark-virt record -q -o "$2" --events "$(IFS=,; echo "${events[*]#*/}")" -- "$0" work "$3"
	exit
fi
make_folder a
(cd $tracing/events && find header_* ftrace "${events[@]}" -name 'header_*' -o -name format -o -name id) |
	while read -r event; do
		mkdir -p "$folder/events/$(dirname "$event")"
		cat "$tracing/events/$event" > "$folder/events/$event"
	done
"$here/proc.py" "$1.proc.txt" 6 &
sleep 0.5
unshare -m "$0" record "$1" "$folder"
wait
"$here/names.py" "$1/host.dat"
