#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# quota.sh FOLDER: record this machine with kshark-virt, as root, into FOLDER, while a virtual machine may use 20 % of a
# CPU: with cpu.max, or cpu.cfs_quota_us of version 1 of cgroups. FOLDER.cpu.txt has what cpu.stat says before and after.
# In a mount namespace of its own, the kernel has only a few events, and of its symbols the timers of quotas.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
here=$(dirname "$(readlink -f "$0")")
tracing=/sys/kernel/tracing
events=(sched/sched_switch sched/sched_wakeup sched/sched_migrate_task kvm/kvm_entry kvm/kvm_userspace_exit
	timer/hrtimer_expire_entry)
if [ "${1:-}" = record ]; then
	mount --bind "$3/events" "$tracing/events"
	grep -E ' sched_cfs_(period|slack)_timer$' /proc/kallsyms > "$3/kallsyms"
	mount --bind "$3/kallsyms" /proc/kallsyms
	kshark-virt record -q -o "$2" --events minimal --regions none -d 1.5
	exit
fi
make_folder
gcc -O1 -Wall -o "$folder/quota_machine" "$here/quota_machine.c" -lpthread
(cd $tracing/events && find header_* ftrace "${events[@]}" -name 'header_*' -o -name format -o -name id) |
	while read -r event; do
		mkdir -p "$folder/events/$(dirname "$event")"
		cat "$tracing/events/$event" > "$folder/events/$event"
	done
cgroup=/sys/fs/cgroup/limited
[ -e /sys/fs/cgroup/cgroup.procs ] || cgroup=/sys/fs/cgroup/cpu/limited
mkdir "$cgroup"
trap 'rmdir "$cgroup"; rm -rf "$folder"' EXIT
if [ -e "$cgroup/cpu.max" ]; then
	echo 20000 100000 > "$cgroup/cpu.max"
else
	echo 20000 > "$cgroup/cpu.cfs_quota_us"
fi
sh -c "echo \$\$ > $cgroup/cgroup.procs; exec $folder/quota_machine -name web 5" &
machine=$!
sleep 1
cat "$cgroup/cpu.stat" > "$1.cpu.txt"
unshare -m "$0" record "$1" "$folder"
cat "$cgroup/cpu.stat" >> "$1.cpu.txt"
wait "$machine"
"$here/names.py" "$1/host.dat"
