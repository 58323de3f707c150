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
