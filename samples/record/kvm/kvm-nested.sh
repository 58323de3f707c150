#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Record kvm-nested.dat (this host) and kvm-nested-g1.dat (the guest with vsock CID 3, in which
# "trace-cmd agent" runs and socat answers on port 9000: socat VSOCK-LISTEN:9000,fork EXEC:/bin/sh).
# To be run as root; the files are written where it is called.
set -euo pipefail

TRACING=/sys/kernel/tracing
events=()
for event in kvm:kvm_{entry,exit,userspace_exit,inj_virq,hypercall,write_tsc_offset} \
	kvm:kvm_nested_{vmenter,vmexit,vmexit_inject,intr_vmexit} \
	sched:sched_{switch,wakeup,wakeup_new,migrate_task}; do
	events+=(-e "$event")
done

in_guest()
{
	echo "$1" | socat -t 200 - VSOCK-CONNECT:3:9000
}

# what trace-cmd runs: L3 works; what comes after it need not be recorded
if [ "${1:-}" = work ]; then
	echo 'host: L3 starts' > $TRACING/trace_marker
	in_guest "l3vmm; echo 0 > $TRACING/tracing_on"
	echo 'host: L3 ended' > $TRACING/trace_marker
	echo 0 > $TRACING/tracing_on
	exit
fi

mount -o bind /dev/null /proc/kallsyms
trap 'umount /proc/kallsyms' EXIT
in_guest 'mount -o bind /dev/null /proc/kallsyms'
trace-cmd record -o kvm-nested.dat "${events[@]}" -A g1@3:823 "${events[@]}" \
	"$(readlink -f "$0")" work
