# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the scripts of this folder share. They record the machine that they run on, as root, while a virtual machine
# (disk_machine.c) reads blocks of a file.

# make_folder FILE...: sets folder, which has the virtual machine and these files of 16 MB, until the script ends
make_folder()
{
	local name

	folder=$(mktemp -d -p "$PWD")
	trap 'rm -rf "$folder"' EXIT
	gcc -O1 -Wall -o "$folder/machine" "$(dirname "$(readlink -f "$0")")/disk_machine.c" -lpthread
	for name; do
		dd if=/dev/urandom of="$folder/$name" bs=1M count=16 status=none
	done
	sync
}

# record_few OUT EVENT... -- COMMAND...: records these events, as "sched/sched_switch", with kshark-virt while COMMAND runs,
# after make_folder. In a mount namespace of its own, the kernel has only them and no symbols: a trace contains the
# formats of all
record_few()
{
	local out=$1 event events=() tracing=/sys/kernel/tracing

	shift
	while [ "$1" != -- ]; do
		events+=("$1")
		shift
	done
	(cd $tracing/events && find header_* ftrace "${events[@]}" -name 'header_*' -o -name format -o -name id) |
		while read -r event; do
			mkdir -p "$folder/events/$(dirname "$event")"
			cat "$tracing/events/$event" > "$folder/events/$event"
		done
	: > "$folder/kallsyms"
	# shellcheck disable=SC2016
	unshare -m bash -ec 'mount --bind "$1/events" "$2/events"
		mount --bind "$1/kallsyms" /proc/kallsyms
		shift 2
		exec kshark-virt record -q "$@"' bash "$folder" $tracing -o "$out" \
		--events "$(IFS=,; echo "${events[*]//\//:}")" "$@"
}
