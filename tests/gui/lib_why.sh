# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the tests of the dock's page "Why" share. To be sourced after lib.sh, lib_virt.sh and lib_combo.sh.

# virt/model/virt_colors.c, written down a second time on purpose
EDGE='#202020'

why_py()
{
	python3 "$KSV_SOURCE_DIR/tests/gui/why.py" "$@"
}

# why_shown: the tree is there, with its records
why_shown()
{
	{ gui_find widgets QLabel '*, fully explained*' || gui_find widgets QLabel '*, unexplained: *'; } >/dev/null &&
		! gui_find widgets QLabel '*Reading the traces of guests*' >/dev/null &&
		! gui_find widgets QLabel '*Looking for *' >/dev/null
}

# as_printed ARGUMENT...: what is copied, and what the list shows, is what the command prints; with arguments,
# also what it prints with these
as_printed()
{
	gui_until why_shown
	virt_copy 'Why command'
	gui_need grep -qE '^kshark-virt why (--path )?--(vcpu|task|pcpu) ' "$GUI_DIR/copied"
	sed 's/kshark-virt why/& --quiet/' "$GUI_DIR/copied" >"$GUI_DIR/command"
	PATH=$(dirname "$KSV_BIN"):$PATH bash "$GUI_DIR/command" >"$GUI_DIR/printed"
	gui_need [ "$(wc -l <"$GUI_DIR/printed")" -gt 3 ]
	virt_copy 'Why as text'
	diff "$GUI_DIR/printed" "$GUI_DIR/copied" >&2 || gui_fail 'not what the command prints'
	gui_ask items | why_py list "$GUI_DIR/printed" || gui_fail 'not listed as it is printed'
	[ $# = 0 ] && return
	"$KSV_BIN" why --quiet "$@" "$file" | diff - "$GUI_DIR/copied" >&2 ||
		gui_fail "not what the command prints with $*"
}

# segment TEXT: from and to, in ns, of the first one that is printed with these words
segment()
{
	why_py segment "$GUI_DIR/printed" "$1"
}

# longest TEXT: the same of the longest one
longest()
{
	why_py longest "$GUI_DIR/printed" "$1"
}

# us NS: as KernelShark rounds it
us()
{
	echo $((($1 + 500) / 1000))
}

# marked FROM TO: the markers, which show microseconds, are there
marked()
{
	mapfile -t marks < <(virt_markers)
	[ "${#marks[@]}" = 2 ] && [ "$((10#${marks[0]//./}))" = "$(us "$1")" ] &&
		[ "$((10#${marks[1]//./}))" = "$(us "$2")" ]
}

# large FROM TO: the window shows it, and not much else
large()
{
	virt_window && [ "$VIRT_FROM" -le "$1" ] && [ "$VIRT_TO" -ge "$2" ] &&
		[ $((VIRT_TO - VIRT_FROM)) -le $((5 * ($2 - $1) / 2)) ]
}

# band BASE X W COLOUR: columns of the band of a graph with this base line that have the colour, and edges
band()
{
	local colour edge

	colour=$(gui_count_colour "$4" "$2" $(($1 - 6)) "$3" 1)
	edge=$(gui_count_colour "$EDGE" "$2" $(($1 - 11)) "$3" 1)
	[ "$edge" -ge "$colour" ] && echo "$colour"
}

# drawn BASE FROM TO COLOUR: a band has it between these times, but for some columns at both ends
drawn()
{
	local x w

	x=$(($(virt_column "$2") + 6))
	w=$(($(virt_column "$3") - 6 - x))
	gui_need [ "$w" -gt 10 ]
	gui_same "columns of $4 in a band $w columns wide" "$w" "$(band "$1" "$x" "$w" "$4")"
}
