# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Search in every column, and forward and backward through what is found. From 100,000 rows on
# KernelShark searches in several threads.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# of the list alone: what is drawn in software is drawn more quickly if there is less of it
GUI_SCREEN=1240x760
GUI_SIZE="1200 700"

column=''
how=contains

# search COLUMN HOW TEXT WANTED: WANTED rows are found
search()
{
	gui_combo "$column" "$1"
	gui_combo "$how" "$2"
	column=$1 how=$2
	gui_click QLineEdit '*'
	xdotool key ctrl+a type --delay 1 "$3"
	gui_until gui_find widgets QLineEdit "$3" >/dev/null
	xdotool key Return
	gui_until gui_find widgets QLabel " * / $4" >/dev/null
}

# check_search FILE COLUMN HOW TEXT CONDITION
check_search()
{
	local file=$1 found n

	gui_rows "$file" "$5" >"$GUI_DIR/found"
	found=$(wc -l <"$GUI_DIR/found")
	gui_need [ "$found" -gt 1 ]
	search "$2" "$3" "$4" "$found"
	# It begins where the list was left.
	n=$(gui_ask widgets | sed -n "s,^QLabel\t *\([0-9]*\) / $found\t.*,\1,p")
	gui_until gui_selected_is "$n"
	gui_click QPushButton Next
	gui_until gui_selected_is $((n % found + 1))
	gui_click QPushButton Prev
	gui_until gui_selected_is "$n"
	gui_click QPushButton Prev
	gui_until gui_selected_is $(((n + found - 2) % found + 1))
	echo "$2 $3 '$4': $found rows"
}

# gui_selected_is N: the selected row is the Nth found
gui_selected_is()
{
	[ "$(gui_ask selected | cut -f2- | gui_strip)" = "$(sed -n "$1p" "$GUI_DIR/found")" ]
}

gui_init
for name in hvm-exits lost-records; do
	file=$GUI_SAMPLES/$name.xen
	gui_open "$file"
	column='#' how=contains
	check_search "$file" Task 'full match' d0v1 'task == "d0v1"'
	check_search "$file" Info contains 'new=blocked' '"new=blocked" in info'
	if [ "$name" = lost-records ]; then
		check_search "$file" PID contains 2000 'pid in (20000, 20001)'
		check_search "$file" CPU 'does not have' 1 'pcpu != 1'
		check_search "$file" Event contains running_to 'event.startswith("running_to")'
		check_search "$file" 'Time Stamp' contains 1.9 '"1.9" in "%.6f" % (ns * 1e-9)'
		check_search "$file" Latency contains x True
	fi
	gui_shot "$name"
	gui_quit
done
