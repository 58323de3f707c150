# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the tests of the plugin "virt" share. To be sourced after lib.sh.

# more lines of the settings file
VIRT_SETTINGS=()

# virt_open FILE...: KernelShark with both plugins; of the overlays only the strips
virt_open()
{
	local file appended=()

	printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" \
		>"$KS_USER_CACHE_DIR/kshark-virt.ini"
	for file in "${@:2}"; do
		appended+=(-a "$file")
	done
	gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT" "$1" "${appended[@]}"
	gui_loaded "$@"
	gui_until virt_window
}

# virt_click_nothing: click where nothing happens, for what is next not to be the second one of two clicks
virt_click_nothing()
{
	gui_click QLabel '*: <b>*'
}

# virt_page NAME: choose it below the graphs
virt_page()
{
	gui_click QToolButton "$1"
	gui_until virt_on_page "$1"
}

virt_on_page()
{
	[[ $(gui_find widgets QToolButton "$1") == *,checked* ]]
}

# virt_lane ROW [X]: the middle of a lane, counted from 0, as x y; on its name, or in this column of the screen
virt_lane()
{
	local x y font

	read -r x y _ < <(gui_find widgets QAbstractScrollArea '*')
	font=$(gui_ask font)
	# below a frame, the map of the trace and the time axis
	echo "${2:-$((x + 14))}" $((y + 1 + 14 + font + 6 + $1 * (font + 1) + (font + 1) / 2))
}

# virt_click_lane ROW [X]
virt_click_lane()
{
	local x y

	read -r x y < <(virt_lane "$@")
	gui_click_at "$x" "$y"
	gui_still
}

# virt_window: sets VIRT_FROM and VIRT_TO, in ns, to the window that the dock is about
virt_window()
{
	local text

	text=$(gui_ask window)
	[[ $text == *\ ns\ to\ *\ ns ]] || return 1
	read -r VIRT_FROM _ _ VIRT_TO _ <<<"$text"
}

# virt_window_not FROM TO: until the dock shows another window
virt_window_not()
{
	virt_window && [ "$VIRT_FROM $VIRT_TO" != "$1 $2" ]
}

# virt_same_window FROM TO: until the dock shows that one, but for the bins, whose number depends on the width
virt_same_window()
{
	virt_window && [ $(((VIRT_FROM - $1) * 100 / ($2 - $1))) = 0 ] &&
		[ $(((VIRT_TO - $2) * 100 / ($2 - $1))) = 0 ]
}

# virt_zoom X0 X1: into these columns
virt_zoom()
{
	virt_zoom_at $(($(gui_base 0) - 5)) "$@"
}

# virt_zoom_at Y X0 X1: by a drag in this row
virt_zoom_at()
{
	local from=$VIRT_FROM to=$VIRT_TO

	# Something else is clicked on first, or two presses at one place might be a double click.
	virt_click_nothing
	gui_still
	gui_drag "$2" "$1" "$3" "$1"
	gui_until virt_window_not "$from" "$to"
}

# virt_strip N [vcpu]: position of the strip over the Nth graph, of a vCPU or else of a pCPU: sets
# VIRT_X VIRT_Y VIRT_W VIRT_H
virt_strip()
{
	local base x w

	base=$(gui_base "$1")
	read -r x _ w _ < <(gui_find widgets KsGLWidget '*')
	VIRT_X=$((GUI_X0 - 4))
	VIRT_W=$((GUI_X1 + 4 < x + w ? GUI_X1 + 4 - VIRT_X : x + w - VIRT_X))
	VIRT_Y=$((base - GUI_HEIGHT - 8))
	VIRT_H=$((base - GUI_HEIGHT * 7 / 10 - 2 - VIRT_Y))
	[ "${2:-}" != vcpu ] || VIRT_H=$((base - GUI_HEIGHT / 2 - VIRT_Y))
}

# virt_check N FILE pcpu|vcpu NUMBER: the strip over the Nth graph of the last photograph
virt_check()
{
	virt_strip "$1" "$3"
	virt_check_strip "graph $1" "${@:2}"
}

# virt_check_strip WHAT FILE pcpu|vcpu NUMBER: the same, where VIRT_X VIRT_Y VIRT_W VIRT_H say
virt_check_strip()
{
	local csv

	csv=$GUI_DIR/$(basename "$2").model
	[ -e "$csv" ] || "$KSV_MODEL_CSV" "$2" >"$csv"
	gui_pixels "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H" >"$GUI_DIR/strip"
	python3 "$KSV_SOURCE_DIR/tests/gui/virt_lib.py" "$csv" "$3" "$4" "$VIRT_FROM" "$VIRT_TO" \
		"$VIRT_H" "$GUI_DIR/strip" ||
		gui_fail "the strip over $1 ($3 $4 of $2) is wrong in $GUI_SHOT"
}

# virt_copy WHAT: by the dock's menu, to the file "copied"
virt_copy()
{
	gui_click QToolButton Copy
	gui_choose "$1"
	gui_ask clipboard >"$GUI_DIR/copied"
	gui_need [ -s "$GUI_DIR/copied" ]
}

# virt_run_copied OPTION...: what has been copied is a command; run it in a shell, with more options
virt_run_copied()
{
	sed "s/kshark-virt report/& $*/" "$GUI_DIR/copied" >"$GUI_DIR/command"
	PATH=$(dirname "$KSV_BIN"):$PATH bash "$GUI_DIR/command"
}

# virt_listed OPTION...: the dock's list of the worst moments is what "report --worst" prints with these,
# in any order
virt_listed()
{
	virt_copy 'Worst moments as CSV'
	"$KSV_BIN" report --quiet --format csv "$@" | cut -d, -f1-11 >"$GUI_DIR/wanted"
	diff <(sort "$GUI_DIR/wanted") <(sort "$GUI_DIR/copied") >&2 ||
		gui_fail "not what report $* prints"
	gui_need [ "$(wc -l <"$GUI_DIR/wanted")" -gt 1 ]
}

# virt_markers: the times of KernelShark's markers A and B, one a line; empty if not set
virt_markers()
{
	gui_ask widgets | awk -F '\t' '$1 == "KsMarkerButton" { on = 1; next }
		on && $1 == "QLabel" { gsub(/ /, "", $2); print $2; on = 0 }'
}

# virt_at_marker WHAT NS INDEX: a marker, which shows microseconds, is at a time
virt_at_marker()
{
	local marks

	mapfile -t marks < <(virt_markers)
	gui_same "$1" "$((($2 + 500) / 1000))" "$((10#${marks[$3]//./}))"
}

# virt_column NS: of a time in the window
virt_column()
{
	echo $((GUI_X0 + ($1 - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
}

# virt_details TEXT: it is shown below the dock's table
virt_details()
{
	gui_shows widgets QLabel "$1"
}

# virt_overlay NAME: switch it on
virt_overlay()
{
	local x y h

	# on the box itself: the widget may be wider than its text
	read -r x y _ h _ < <(gui_find widgets QCheckBox "$1")
	gui_click_at $((x + 8)) $((y + h / 2))
	gui_until virt_checked "$1"
}

virt_checked()
{
	local state

	read -r _ _ _ _ state < <(gui_find widgets QCheckBox "$1")
	[ "$state" = on,checked ]
}
