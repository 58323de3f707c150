#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# counters.sh OUT.data: record counters of this machine with perf, as root, into OUT.data, and beside it what perf stat
# counts in all but its first and last moments (OUT.data.stat.txt): a virtual machine reads blocks of a file, while dd
# writes another one, and a task needs memory. The counters are those of the kernel, and the TSC: no processor's
# counters are needed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
here=$(dirname "$(readlink -f "$0")")
counters=task-clock,page-faults,context-switches,cpu-migrations,msr/tsc/
if [ "${1:-}" = work ]; then
	"$2/machine" "$2/a" 60 &
	dd if=/dev/zero of="$2/b" conv=notrunc bs=1M count=16 status=none
	dd if=/dev/zero of=/dev/null bs=16M count=2 status=none
	wait
	exit
fi
make_folder a b
perf record -q -s -a --synth=no -o "$1" -e kvm:kvm_entry,kvm:kvm_userspace_exit,sched:sched_waking,sched:sched_wakeup \
	-e "{sched:sched_switch,$counters}:S" -- \
	perf stat -a -x, -o "$1.stat.txt" -e $counters -- "$0" work "$folder"
"$here/names.py" "$1"
