#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# files.sh FOLDER: record all system calls of this machine with kshark-virt, as root, into FOLDER, while programs move known
# numbers of bytes by descriptors of their own: dd 100 blocks of 4,000 bytes, 3 into a full device, which fail; a pipe of
# 70,000 bytes; sendfile() and splice() of 50,000 and 30,000, from a file that is read beyond its end.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$(readlink -f "$0")")/lib.sh"
here=$(dirname "$(readlink -f "$0")")
if [ "${1:-}" = work ]; then
	sleep 0.01
	dd if=/dev/zero of="$2/a" bs=4000 count=100 status=none
	dd if=/dev/zero of=/dev/full bs=4000 count=3 status=none 2> "$2/full" || :
	head -c 70000 /dev/zero | cat > "$2/b"
	python3 -ISE "$here/files.py" "$2/a" "$2/b"
	sleep 0.01
	exit
fi
make_folder a
touch "$folder/full" "$folder/b"
events=(raw_syscalls/sys_{enter,exit})
[ -z "${2:-}" ] || events=(syscalls/sys_{enter,exit}_{read,write,sendfile64,splice})
record_few "$1" sched/sched_switch kvm/kvm_{entry,exit,msr} "${events[@]}" -- "$0" work "$folder"
"$here/names.py" "$1/host.dat"
