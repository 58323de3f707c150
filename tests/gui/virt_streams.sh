# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Strips of two files at once, after the plugin has been switched off and on, after another file has
# been opened, from a session.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

GREEN='#009e73'
HATCH='#8c8c8c'

# toggle PLUGIN: off or on for the file
toggle()
{
	gui_menu Tools 'Manage Plotting plugins'
	gui_dialog 'Manage plugins'
	gui_toggle "$1*"
	gui_apply
	gui_still
}

# check NAME FILE: strips of all four CPUs
check()
{
	local i

	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	for i in 0 1 2 3; do
		virt_check "$i" "$2" pcpu "$i"
	done
}

# green: pixels of guest time in the strip over the graph of CPU 3
green()
{
	virt_strip 3
	gui_count_colour "$GREEN" "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H"
}

gui_init
one=$GUI_SAMPLES/hvm-exits.xen two=$GUI_SAMPLES/pinned.xen

# two files
virt_open "$one" "$two"
gui_need [ "$(gui_ask items | grep -cE '^d1 \((hvm-exits|pinned).xen\) \| ')" = 2 ]
gui_split 800
gui_shot two
gui_graphs
virt_window
virt_check 3 "$one" pcpu 3
virt_check 4 "$two" pcpu 0
virt_check 6 "$two" pcpu 2
# the first one ends 77 ms before the second: of these 1.9 % nothing is known, in its graph and in the table
from=$VIRT_FROM to=$VIRT_TO
gui_click QPushButton '- -'
gui_until virt_window_not "$from" "$to"
gui_still
gui_shot beyond
gui_graphs
virt_check 3 "$one" pcpu 3
virt_strip 3
gui_need [ "$(gui_count_colour "$HATCH" $((VIRT_X + VIRT_W - 20)) "$VIRT_Y" 12 "$VIRT_H")" -gt 0 ]
virt_copy 'vCPUs as text'
gui_same "time beyond the end of $one" 1 "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "Unknown %") at = i }
	/^d1v0 \(hvm-exits/ { print (at && $at >= 1.9 && $at < 3) }' "$GUI_DIR/copied")"
gui_quit

# off and on, which loads the file again
virt_open "$one"
check first "$one"
toggle virt
gui_shot off
gui_same "guest pixels without the plugin" 0 "$(green)"
toggle virt
check on "$one"
gui_need [ "$(green)" -gt 100 ]

# another file, and a session of it
gui_menu File 'Open Trace File'
gui_file "$two"
gui_loaded "$two"
check other "$two"
session=$GUI_DIR/session.json
gui_menu File Sessions 'Export Session'
gui_file "$session"
gui_until test -s "$session"
gui_until gui_main_active
gui_quit
gui_run -s "$session"
gui_loaded "$two"
check session "$two"
gui_quit
