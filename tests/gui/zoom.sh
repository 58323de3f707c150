# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Zoom: into a range, to the edges, as far as it goes and all the way back; the text at the pointer.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# time_at X LAST: of a column when all is shown
time_at()
{
	echo $((($1 - GUI_X0) * $2 / (GUI_X1 - GUI_X0)))
}

# check_range NAME FILE X0 X1 LAST: zoom into these columns; all graphs must show that range
check_range()
{
	local n name=$1 file=$2 last=$5 y x0=$3 x1=$4 whole judged

	whole=$(gui_picture_sum)
	y=$(($(gui_base 0) - 5))
	gui_drag "$x0" "$y" "$x1" "$y"
	gui_until gui_picture_changed "$whole"
	gui_shot "$name"
	gui_graphs
	# The range begins and ends somewhere in an old column, which is many of the new ones: boxes
	# and gaps that are narrower than that cannot be judged, so the four graphs count together.
	export GUI_TOLERANCE=$((4 * (GUI_X1 - GUI_X0) / (x1 - x0) + 3)) GUI_LEAST=0
	judged=0
	for ((n = 0; n < 4; n++)); do
		gui_check_graph "$n" "$file" cpu "$n" "$(time_at "$x0" "$last")" \
			"$(time_at "$x1" "$last")" "$colours"
		judged=$((judged + $(awk '{ print $3 + $8 }' "$GUI_DIR/graph")))
	done
	unset GUI_TOLERANCE GUI_LEAST
	gui_need [ "$judged" -gt 2000 ]
	check_whole "$name"
}

# check_whole NAME: zoom out as far as it goes; now everything must be shown
check_whole()
{
	local n zoomed

	zoomed=$(gui_picture_sum)
	gui_click QPushButton '- -'
	gui_until gui_picture_changed "$zoomed"
	gui_shot "$1-back"
	gui_graphs
	for ((n = 0; n < 4; n++)); do
		gui_check_graph "$n" "$file" cpu "$n" 0 "$last" "$colours"
	done
}

# check_pointer FILE X: the pointer's labels are a row of the list
check_pointer()
{
	local file=$1 labels row

	xdotool mousemove "$2" $(($(gui_base 3) - 3))
	gui_until gui_pointed
	mapfile -t labels < <(gui_pointer)
	# time, task-pid, CPU, latency, class/event, info; the list gives all but the latency. The list
	# rounds to us, the pointer cuts.
	row=$(gui_rows "$file" "pcpu == 3" | awk -F '\t' -v time="${labels[0]}" \
		'$2 - time > -0.0000005 && $2 - time < 0.0000015')
	[ -n "$row" ] || gui_fail "no row of CPU 3 has the time ${labels[0]} that the pointer shows"
	[[ ${labels[*]} == *"CPU 3"* ]] || gui_fail "the pointer does not say CPU 3: ${labels[*]}"
}

gui_pointer()
{
	gui_ask widgets | awk -F '\t' '$1 == "QLabel" && on { print $2 } /Pointer:/ { on = 1 }
		$1 == "QToolBar" { on = 0 } $2 ~ /Pointer/ { on = 1 }'
}

gui_pointed()
{
	[ -n "$(gui_pointer | sed -n 1p)" ] && [ -n "$(gui_pointer | sed -n 4p)" ]
}

gui_init
for name in hvm-exits pinned; do
	file=$GUI_SAMPLES/$name.xen
	gui_open "$file"
	last=$(tail -n 1 "$(gui_csv "$file")" | cut -d, -f2)
	gui_menu Plots Tasks
	gui_dialog Tasks
	colours=$(gui_colours)
	gui_close Cancel
	gui_shot "$name-whole"
	gui_graphs
	width=$((GUI_X1 - GUI_X0))
	check_range "$name-middle" "$file" $((GUI_X0 + width / 2)) $((GUI_X0 + width * 6 / 10)) "$last"
	check_range "$name-left" "$file" "$GUI_X0" $((GUI_X0 + width / 8)) "$last"
	check_range "$name-right" "$file" $((GUI_X1 - width / 8)) "$GUI_X1" "$last"
	check_pointer "$file" $((GUI_X0 + width / 3))

	# with the wheel as far as it goes, left and right there, and back
	whole=$(gui_picture_sum)
	xdotool mousemove $((GUI_X0 + width / 3)) $(($(gui_base 1) - 3)) keydown ctrl \
		click --repeat 150 --delay 2 4 keyup ctrl
	gui_until gui_picture_changed "$whole"
	gui_shot "$name-deep"
	# KernelShark goes on moving until it sees the button released
	for button in '>' '>' '<' '+' '-' '<'; do
		gui_press QPushButton "$button"
		gui_still
	done
	gui_shot "$name-deep-moved"
	check_whole "$name-deep"

	# double click marks the row and shows it in the list
	gui_need gui_is selected ''
	gui_double_click_at $((GUI_X0 + width / 3)) $(($(gui_base 3) - 3))
	gui_until gui_not gui_is selected ''
	gui_shot "$name-marked"
	gui_need [ "$(gui_ask selected | cut -f3)" = 3 ]
	gui_quit
done
