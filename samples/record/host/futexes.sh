#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# futexes.sh FOLDER: record waits for locks on this machine with kshark-virt, as root, into FOLDER, with what wakes those
# that wait: threads of a program take a mutex in turns, while a virtual machine reads blocks of a file that two dd write.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
here=$(dirname "$(readlink -f "$0")")
if [ "${1:-}" = work ]; then
	"$2/machine" "$2/a" 60 &
	"$2/futexes" 10 &
	dd if=/dev/zero of="$2/a" conv=notrunc bs=4M count=4 status=none &
	dd if=/dev/zero of="$2/a" conv=notrunc,fsync bs=4M count=4 status=none
	wait
	exit
fi
make_folder a
gcc -O1 -Wall -o "$folder/futexes" "$here/futexes.c" -lpthread
record_few "$1" sched/sched_{switch,waking,wakeup,migrate_task} kvm/kvm_{entry,exit,userspace_exit} \
	lock/contention_{begin,end} syscalls/sys_{enter,exit}_futex -- "$0" work "$folder"
"$here/names.py" "$1/host.dat"
