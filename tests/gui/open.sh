# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Samples are opened: all rows, the graphs of all pCPUs and of all vCPUs. A file that is no session is
# refused with a message that can be closed.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# check_sample FILE PCPUS
check_sample()
{
	local file=$1 last colours n name item

	name=$(basename "$file" .xen)
	gui_open "$file"
	gui_check_list "$file"
	last=$(tail -n 1 "$(gui_csv "$file")" | cut -d, -f2)

	gui_menu Plots Tasks
	gui_dialog Tasks
	colours=$(gui_colours)
	gui_close Cancel
	gui_shot "$name-cpus"
	gui_graphs
	for ((n = 0; n < $2; n++)); do
		gui_check_graph "$n" "$file" cpu "$n" 0 "$last" "$colours"
	done

	# no pCPU, all tasks
	gui_menu Plots CPUs
	gui_dialog CPUs
	gui_click QCheckBox all
	gui_apply
	gui_menu Plots Tasks
	gui_dialog Tasks
	gui_click QCheckBox all
	gui_apply
	gui_split 800
	gui_shot "$name-tasks"
	gui_graphs
	n=0
	for item in $colours; do
		[ "${item%=*}" -lt 10000 ] ||
			gui_check_graph "$n" "$file" task "${item%=*}" 0 "$last"
		n=$((n + 1))
	done
	gui_quit
}

gui_init
check_sample "$GUI_SAMPLES/hvm-exits.xen" 4
check_sample "$GUI_SAMPLES/lost-records.xen" 4

# The message comes while KernelShark's progress bar is there.
gui_open "$GUI_SAMPLES/pinned.xen"
gui_menu File Sessions 'Import Session'
gui_file "$GUI_SAMPLES/pinned.xen"
gui_until gui_has windows QErrorMessage
gui_still
gui_click QPushButton '*OK'
gui_until gui_not gui_has windows QErrorMessage
gui_quit
