# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Filters by event, task and CPU, by the list's context menu and by the dialogs; alone and together.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# by_row_menu FILE: a filter from the context menu of the list's first row that fits
by_row_menu()
{
	local file=$1 cpu event pid

	cpu=$(gui_list 0 1 | cut -f1)
	event=$(gui_list 0 1 | cut -f5)
	gui_row_menu 0
	gui_choose "Hide event *$event*"
	gui_check_list "$file" "event != '$event'"
	pid=$(gui_list 0 1 | cut -f4)
	gui_row_menu 0
	gui_choose 'Hide task*'
	gui_check_list "$file" "event != '$event' and pid != $pid"
	gui_menu Filter 'Clear all filters'
	gui_until gui_is count "$(gui_rows "$file" | wc -l)"

	gui_row_menu 0
	gui_choose 'Show event * only'
	gui_check_list "$file" "event == '$event'"
	gui_row_menu 0
	gui_choose 'Show CPU * only'
	gui_check_list "$file" "event == '$event' and pcpu == $cpu"
	gui_menu Filter 'Clear all filters'
	gui_until gui_is count "$(gui_rows "$file" | wc -l)"
}

# by_dialogs FILE: tasks and CPUs
by_dialogs()
{
	local file=$1 colours colour n total

	gui_menu Filter 'Show tasks'
	gui_dialog KsCheckBoxDialog
	colours=$(gui_colours)
	gui_toggle '10001 | d0v1'
	gui_apply
	gui_check_list "$file" 'task != "d0v1"'
	colour=${colours#*10001=}
	colour=${colour%% *}
	gui_shot tasks
	gui_graphs
	gui_same "pixels of d0v1, which is hidden" 0 "$(gui_count_colour "$colour" \
		"$GUI_X0" "$GUI_TOP" $((GUI_X1 - GUI_X0)) $((4 * (GUI_HEIGHT + 20) + 50)))"

	gui_menu Filter 'Show CPUs'
	gui_dialog KsCheckBoxDialog
	gui_toggle '* | CPU 0'
	gui_toggle '* | CPU 2'
	gui_apply
	gui_check_list "$file" 'task != "d0v1" and pcpu in (1, 3)'
	gui_shot cpus

	gui_menu Filter 'Clear all filters'
	total=$(gui_rows "$file" | wc -l)
	gui_until gui_is count "$total"
	gui_shot cleared
	n=$(gui_count_colour "$colour" "$GUI_X0" "$GUI_TOP" $((GUI_X1 - GUI_X0)) \
		$((4 * (GUI_HEIGHT + 20) + 50)))
	gui_need [ "$n" -gt 100 ]
}

gui_init
for file in "$GUI_SAMPLES"/{hvm-exits,pinned}.xen; do
	gui_open "$file"
	# The advanced filter is trace-cmd's own.
	gui_menu Filter
	gui_until gui_find actions QMenu 'Show events' >/dev/null
	gui_need gui_not gui_enabled actions QMenu '*Advance*'
	xdotool key Escape
	gui_until gui_no_menu
	by_row_menu "$file"
	by_dialogs "$file"
	gui_quit
done
