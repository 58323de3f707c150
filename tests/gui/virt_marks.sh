# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Migrations: marked below a vCPU's graph and by arrows between the CPUs' graphs, with a text on a double
# click, with markers A and B at their ends. Strips and marks of a stream that is shifted in time.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

BLACK='#202020'

whole()
{
	local from=$VIRT_FROM to=$VIRT_TO

	gui_click QPushButton '- -'
	gui_until virt_window_not "$from" "$to"
}

# black X Y W H: pixels of marks and arrows in the last photograph
black()
{
	gui_count_colour "$BLACK" "$@"
}

# described: the description of the migration in $ran $time $from $to, and the places of the markers
described()
{
	gui_until virt_details "d1v0 migrated from pCPU $from to pCPU $to"
	virt_at_marker 'marker A' "$ran" 0
	virt_at_marker 'marker B' "$time" 1
}

# forget: another text is shown
forget()
{
	virt_strip 4
	gui_double_click_at $((VIRT_X + VIRT_W / 2)) $((VIRT_Y + VIRT_H / 2))
	gui_until gui_not virt_details 'd1v0 migrated'
	gui_still
}

gui_init
# markers of the worst moments take the places of marks
VIRT_SETTINGS=('[markers]' shown=false '[sections]' clocks=false legend=false)
file=$GUI_SAMPLES/migration.xen
virt_open "$file"
virt_overlay Migrations
virt_overlay Arrows
gui_click_found items '*' 'd1v0 | *'
gui_split 800
gui_shot whole
gui_graphs
gui_until virt_window

n=0
while IFS=, read -r _ _ ran time pcpus; do
	from=${pcpus%>*} to=${pcpus#*>} x=$(virt_column "$time") base=$(gui_base 4) n=$((n + 1))

	# below the vCPU's graph
	gui_shot all
	gui_need [ "$(black $((x - 4)) $((base + 3)) 9 8)" -gt 20 ]
	gui_double_click_at "$x" $((base + 8))
	described
	forget

	# between the graphs of the two CPUs, at the middle of the way; near by, where it has room
	virt_zoom $((x - 12)) $((x + 12))
	gui_shot near
	x=$(virt_column "$time")
	low=$((from < to ? from : to)) high=$((from < to ? to : from))
	y=$((($(gui_base "$low") + $(gui_base "$high") - GUI_HEIGHT) / 2))
	gui_need [ "$(black $((x - 4)) "$(gui_base "$low")" 9 20)" -gt 5 ]
	gui_double_click_at "$x" "$y"
	described
	forget
	whole
done < <("$KSV_MODEL_CSV" "$file" | grep '^migration,20000,')
gui_need [ "$n" -gt 3 ]

# A button that is released before KernelShark looks whether it is down, and pressed again, also zooms, and stops.
quick()
{
	local from=$VIRT_FROM to=$VIRT_TO

	xdotool "$@"
	gui_still
	gui_until virt_window_not "$from" "$to"
}
gui_until virt_window
read -r x y w h _ < <(gui_find widgets QPushButton '+')
xdotool mousemove $((x + w / 2)) $((y + h / 2))
quick click --repeat 3 --delay 0 1
whole
gui_until virt_window
xdotool mousemove $((GUI_X0 + 50)) $(($(gui_base 1) - 3))
quick key --delay 0 plus plus plus
gui_until virt_window
quick key --delay 0 Right Right
gui_until virt_window
quick key --delay 0 Left Right Left Left
gui_quit

# the first of two files, half a second later
one=$GUI_SAMPLES/hvm-exits.xen two=$GUI_SAMPLES/pinned.xen
virt_open "$one" "$two"
gui_split 800
before=$(gui_ask items)
gui_menu Tools 'Add Time Offset'
gui_dialog KsTimeOffsetDialog
gui_click QLineEdit '*'
xdotool key ctrl+a type --delay 1 500000
gui_until gui_find widgets QLineEdit '500000*' >/dev/null
xdotool key Return
gui_until gui_main_active
# the figures of both are of other times now
gui_until gui_not gui_is items "$before"
gui_until virt_window
gui_shot shifted
gui_graphs
VIRT_FROM=$((VIRT_FROM - 500000000)) VIRT_TO=$((VIRT_TO - 500000000))
virt_check 0 "$one" pcpu 0
virt_check 3 "$one" pcpu 3
virt_window
virt_check 4 "$two" pcpu 0
gui_quit
