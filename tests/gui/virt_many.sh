# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# 240 vCPUs of 60 machines, and 103,200 wake-ups: the overview's filter, selection, folding and order, the
# list of the worst with more moments than its filter looks at; what it walks to is brought to the graphs,
# and the text names the pCPU that was idle at the time. All of it at once.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

MOST_MS=500

# numbers TEXT: beside the overview's buttons
numbers()
{
	gui_until gui_find widgets QLabel "$1" >/dev/null
}

# at_once WHAT: nothing since then has kept the window busy for long
at_once()
{
	local ms

	gui_still
	ms=$(gui_ask round)
	echo "$1: $ms ms"
	gui_need [ "$ms" -lt "$MOST_MS" ]
}

# filter OLD TEXT
filter()
{
	gui_click QLineEdit "$1"
	xdotool key ctrl+a BackSpace type --delay 1 "$2"
	gui_until gui_find widgets QLineEdit "${2:-Filter}" >/dev/null
}

gui_init
file=$GUI_DIR/many.xen
read -r domains of_each wakes < <(python3 "$KSV_SOURCE_DIR/tests/gui/virt_many.py" "$file")
gui_need [ "$((domains * of_each))" = 240 ]
gui_need [ "$wakes" -gt 100000 ]
virt_open "$file"

gui_menu View Lanes
numbers '240 vCPUs, 240 shown, 0 selected'
gui_ask round >/dev/null
filter Filter d1
numbers '240 vCPUs, 44 shown, 0 selected'
at_once 'a filter'
gui_click QPushButton 'Select all'
numbers '240 vCPUs, 44 shown, 44 selected'
filter d1 ''
numbers '240 vCPUs, 240 shown, 44 selected'
at_once 'no filter'
virt_click_lane 0
numbers '240 vCPUs, 236 shown, 44 selected'
virt_click_lane 1
numbers '240 vCPUs, 232 shown, 44 selected'
# what is folded is selected, too
gui_click QPushButton 'Select all'
numbers '240 vCPUs, 232 shown, 240 selected'
virt_click_lane 0
numbers '240 vCPUs, 236 shown, 240 selected'
gui_click QPushButton 'Select all'
numbers '240 vCPUs, 236 shown, 0 selected'
gui_combo 'by machine' 'worst first'
numbers '240 vCPUs, 240 shown, 0 selected'
at_once 'folding, selection and order'
gui_shot overview
gui_combo 'worst first' 'by machine'
gui_click QPushButton 'Select all'
gui_click QPushButton 'Plot only'
numbers '240 graphs'
gui_still
gui_need [ "$(gui_ask graphs)" -gt $((240 * (2 * $(gui_ask font) + 20))) ]

# Only one graph again. The list: of d60v3, whose wake-ups are too short, nothing has been looked at.
gui_click QPushButton 'Select all'
filter Filter 'd60v3'
numbers '240 vCPUs, 1 shown, 0 selected'
gui_click QPushButton 'Select all'
gui_click QPushButton 'Plot only'
numbers '1 graph'
gui_menu View Lanes
gui_click QToolButton Worst
gui_until gui_find widgets QLabel '40 moments' >/dev/null
gui_still
gui_ask round >/dev/null
filter Filter d60v3
gui_until gui_find widgets QLabel \
	'None of these * here; only the 100000 costliest were looked at' >/dev/null
at_once 'a filter of the list'
gui_shot cut
filter d60v3 d1v0
gui_until gui_find widgets QLabel '40 moments' >/dev/null
at_once 'another filter of the list'

# the costliest one: its vCPU's graph comes
gui_split 720
gui_click QPushButton 'Next worst'
gui_until gui_find widgets QLabel '1 of 40, *' >/dev/null
gui_until virt_details 'd1v0 waited 1.430 ms after its wake-up, '
gui_need virt_details '; pCPU '
# from when on the list is of, too
gui_need gui_find widgets QLabel '1 of 40, 0.000000000 to *' >/dev/null
gui_graphs_up
gui_shot next
gui_graphs
virt_strip 8 vcpu
gui_need [ "$(gui_count_colour '#f0e442' "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H")" -gt $((VIRT_W * VIRT_H / 3)) ]
gui_quit
