# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Keys that move through a trace, a time that is selected by Shift and dragging, and the one selection that table,
# list and overview share.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

# press KEY: over the graphs, until the window is another one
press()
{
	local from=$VIRT_FROM to=$VIRT_TO

	xdotool key "$1"
	gui_until virt_window_not "$from" "$to"
	gui_still
	gui_until virt_window
}

# near WHAT WANTED GOT MOST: two times
near()
{
	[ $(($2 > $3 ? $2 - $3 : $3 - $2)) -le "$4" ] || gui_fail "$1: $3 ns instead of $2 ns"
}

# selected TEXT: the line above the pages
selected()
{
	gui_until gui_find widgets QLabel "$1" >/dev/null
}

us() { printf '%d.%06d' $((($1 + 500) / 1000 / 1000000)) $((($1 + 500) / 1000 % 1000000)); }

gui_init
VIRT_SETTINGS=('[markers]' shown=false '[sections]' clocks=false legend=false markers=false)
file=$GUI_SAMPLES/migration.xen
virt_open "$file"
gui_shot whole
gui_graphs
gui_until virt_window
selected '<i>Nothing selected</i>'
begin=$VIRT_FROM end=$VIRT_TO column=$(((VIRT_TO - VIRT_FROM) / (GUI_X1 - GUI_X0)))

# zoom and move: the middle stays, the length stays
press w
near "half as long" $(((end - begin) / 2)) $((VIRT_TO - VIRT_FROM)) $((2 * column))
near "the same middle" $(((begin + end) / 2)) $(((VIRT_FROM + VIRT_TO) / 2)) $((2 * column))
from=$VIRT_FROM to=$VIRT_TO
press d
near "a quarter later" $((from + (to - from) / 4)) "$VIRT_FROM" $((2 * column))
near "as long" $((to - from)) $((VIRT_TO - VIRT_FROM)) $((2 * column))
press a
near "back" "$from" "$VIRT_FROM" $((2 * column))
press s
near "all again" "$begin" "$VIRT_FROM" $((2 * column))

# a time, by Shift and dragging: the markers, the figures, the line; the window stays
x0=$((GUI_X0 + (GUI_X1 - GUI_X0) / 4)) x1=$((GUI_X0 + (GUI_X1 - GUI_X0) / 2)) y=$(($(gui_base 0) - 5))
from=$((VIRT_FROM + (x0 - GUI_X0) * column)) to=$((VIRT_FROM + (x1 - GUI_X0) * column))
xdotool keydown shift
gui_drag "$x1" "$y" "$x0" "$y"
xdotool keyup shift
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
mapfile -t marks < <(virt_markers)
near "marker A" "$from" $((10#${marks[0]//./} * 1000)) $((4 * column))
near "marker B" "$to" $((10#${marks[1]//./} * 1000)) $((4 * column))
selected "${marks[0]} to ${marks[1]} s, *"
gui_until gui_find widgets QToolButton Visible >/dev/null
gui_shot dragged
xdotool key f
gui_still
gui_click QToolButton "×"
selected '<i>Nothing selected</i>'
gui_until virt_window_not "$from" "$to"
gui_until gui_find widgets QLabel 'Visible: *' >/dev/null
gui_until virt_window
near "zoomed to them" $((2 * (to - from))) $((VIRT_TO - VIRT_FROM)) $((12 * column))
gui_same "markers" "" "$(virt_markers | tr -d '\n')"
# KernelShark's own keys, which its graphs take when they have been clicked on
gui_click_at $(((GUI_X0 + GUI_X1) / 2)) $((GUI_TOP + 20))
press Right
press Left
press s
press s

# the states of a vCPU, one after the other, and back
gui_click_found items '*' 'd1v0 | *'
selected '<b>d1v0</b>'
mapfile -t states < <("$KSV_MODEL_CSV" "$file" |
	awk -F, '$1 == "vcpu" && $2 == 20000 && n++ < 4 { print $3, $4 }')
for i in 0 1 2 3 2 1; do
	read -r from to <<<"${states[i]}"
	[ "$i" -lt "${last:-0}" ] && key=bracketleft || key=bracketright
	last=$i
	xdotool key "$key"
	# KernelShark finds no row at the time of the first one, but the next
	selected "<b>d1v0</b>, $([ "$i" = 0 ] && echo '*' || us "$from") to $(us "$to") s, *"
	gui_still
done
gui_shot states

# the command that opens this window again
gui_until virt_window
virt_copy 'View command'
gui_need grep -qE "^kshark-virt view .* $file\$" "$GUI_DIR/copied"
PATH=$(dirname "$KSV_BIN"):$PATH bash -c "$(sed 's/ view / view --dry-run /' "$GUI_DIR/copied")" >"$GUI_DIR/command"
gui_need grep -q kernelshark "$GUI_DIR/command"

# what is selected elsewhere is selected here
gui_click_found items '*' 'd0v0 | *'
selected '<b>d0v0</b>*'
gui_click QToolButton Worst
gui_click QCheckBox 'Only d0v0'
gui_click_found items '*' 'Steal | d1v0 | *'
selected '<b>d1v0</b>, *'
gui_click QToolButton vCPUs

# search by the keyboard: what is typed there is no key of these; the list of keys
xdotool key slash
gui_until gui_find widgets QLineEdit '*' >/dev/null
gui_still
gui_until virt_window
gui_click QLineEdit 'Any vCPU'
from=$VIRT_FROM to=$VIRT_TO
xdotool type --delay 20 'swf'
gui_until gui_find widgets QLineEdit swf >/dev/null
gui_same "the window" "$from $to" "$(virt_window && echo "$VIRT_FROM $VIRT_TO")"
gui_click QToolButton vCPUs
gui_click_found items '*' 'd0v0 | *'
xdotool key question
gui_dialog QMessageBox
gui_shot list
xdotool key Return
gui_until gui_main_active
gui_quit
