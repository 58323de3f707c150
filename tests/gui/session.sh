# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A session is saved through the menu and restored in a new KernelShark, which finds the plugin by
# it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# check_graphs NAME FILE: two pCPUs and a vCPU are plotted
check_graphs()
{
	local last

	last=$(tail -n 1 "$(gui_csv "$2")" | cut -d, -f2)
	gui_shot "$1"
	gui_graphs
	gui_check_graph 0 "$2" cpu 0 0 "$last"
	gui_check_graph 1 "$2" cpu 2 0 "$last"
	gui_check_graph 2 "$2" task 10001 0 "$last"
}

gui_init
for name in hvm-exits pinned; do
	file=$GUI_SAMPLES/$name.xen
	session=$GUI_DIR/$name.json
	gui_open "$file"
	gui_row_menu 0
	event=$(gui_list 0 1 | cut -f5)
	gui_choose "Hide event *$event*"
	gui_check_list "$file" "event != '$event'"
	gui_menu Plots CPUs
	gui_dialog CPUs
	gui_toggle '* | CPU 1'
	gui_toggle '* | CPU 3'
	gui_apply
	gui_menu Plots Tasks
	gui_dialog Tasks
	gui_toggle '10001 | d0v1'
	gui_apply
	check_graphs "$name-before" "$file"
	count=$(gui_ask count)
	gui_menu File Sessions 'Export Session'
	gui_file "$session"
	gui_until test -s "$session"
	gui_until gui_main_active
	gui_quit

	gui_run -s "$session"
	gui_loaded "$file"
	gui_until gui_is count "$count"
	gui_check_list "$file" "event != '$event'"
	check_graphs "$name-after" "$file"
	gui_quit
done
