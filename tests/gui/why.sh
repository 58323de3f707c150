# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The dock's page "Why": what it tells of a window, of A to B, of a marker, is what "kshark-virt why" prints,
# line by line; a click on a segment zooms to it and marks it; it is drawn over the graphs.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# virt/model/virt_colors.c, written down a second time on purpose
EDGE='#202020' PREEMPTED='#cc79a7' D2V0='#0072b2' D0V0='#44aa99'

why_py()
{
	python3 "$KSV_SOURCE_DIR/tests/gui/why.py" "$@"
}

# told: the tree is there, with its records
told()
{
	gui_find widgets QLabel '*, of which unexplained: *' >/dev/null &&
		! gui_find widgets QLabel '*Looking for the records*' >/dev/null
}

# as_printed ARGUMENT...: what is copied, and what the list shows, is what the command prints; with arguments,
# also what it prints with these
as_printed()
{
	gui_until told
	virt_copy 'Why command'
	gui_need grep -q '^kshark-virt why --vcpu ' "$GUI_DIR/copied"
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

# nothing_drawn: no band over any of the uppermost graphs
nothing_drawn()
{
	local n

	for n in 0 1 2 3 4 5; do
		gui_same "columns with the edge of a band in graph $n" 0 \
			"$(gui_count_colour "$EDGE" "$GUI_X0" $(($(gui_base "$n") - 11)) \
			   $((GUI_X1 - GUI_X0)) 1)"
	done
}

# --- Xen: the case of docs/why.md
gui_init
file="$GUI_DIR/it's <&> %s.xen"
cp "$GUI_SAMPLES/credit2-basic.xen" "$file"
# the whole tree is seen
VIRT_SETTINGS=('[markers]' shown=false '[sections]' clocks=false legend=false markers=false)
virt_open "$file"
gui_click QToolButton Why
gui_until gui_find widgets QLabel 'Choose a vCPU *' >/dev/null
gui_click QToolButton vCPUs
gui_click_found items '*' 'd1v0 | *'
gui_until gui_find widgets QLabel '<b>d1v0</b>: *' >/dev/null
gui_click QToolButton Why
as_printed
gui_need grep -q ' unexplained: ' "$GUI_DIR/printed"
gui_split 800
gui_shot whole
gui_graphs

# where it waited longest; a click zooms to a segment and marks it, brings who is to blame, and the tree stays
gui_click QToolButton vCPUs
gui_click QPushButton 'Zoom to it'
gui_until marked 1435665875 1487710082
gui_click QToolButton Why
gui_until large 1435665875 1487710082
text='preempted, waits for p1, had by: d2v0'
gui_until gui_find items '*' "52.044207 ms | $text | *" >/dev/null
as_printed
cp "$GUI_DIR/printed" "$GUI_DIR/before"
gui_shot near
gui_graphs
# five graphs: four pCPUs, d1v0
drawn "$(gui_base 4)" 1435665875 1487710082 "$PREEMPTED"
drawn "$(gui_base 1)" 1435667531 1468595339 "$D2V0"
drawn "$(gui_base 1)" 1468596133 1487710082 "$D0V0"
read -r from to < <(segment 'd2v0 has p1')
gui_click_found items '*' "32.927808 ms | d2v0 has p1 | *"
gui_until large "$from" "$to"
gui_until marked "$from" "$to"
gui_until gui_find widgets QLabel '*d2v0 has p1: 32.927808 ms*' >/dev/null
as_printed
gui_need cmp -s "$GUI_DIR/before" "$GUI_DIR/printed"
gui_split 900
gui_graphs_up
gui_shot click
gui_graphs
drawn "$(gui_base 4)" "$from" "$to" "$D2V0"
drawn "$(gui_base 1)" "$from" "$to" "$D2V0"
drawn "$(gui_base 5)" "$from" "$to" "$PREEMPTED"

# the whole of it is drawn on demand only
gui_click QCheckBox Why
gui_shot hidden
nothing_drawn
gui_click QCheckBox Why
gui_shot again
drawn "$(gui_base 5)" "$from" "$to" "$PREEMPTED"
gui_click QToolButton vCPUs
gui_shot other-page
nothing_drawn
gui_click QToolButton Why

# of a marker: what goes on there, as --at has it; whoever is chosen
gui_until told
gui_click QToolButton 'At A'
gui_until gui_find widgets QToolButton "At A, 1.435667531 s *" >/dev/null
as_printed --vcpu d1v0 --at 1435667531ns
gui_same 'segments at the marker' 5 "$(($(wc -l <"$GUI_DIR/printed") - 3))"
gui_click QToolButton 'At B'
gui_until gui_find widgets QToolButton "At B, 1.468595339 s *" >/dev/null
as_printed --vcpu d1v0 --at 1468595339ns
gui_click_found items '*' "52.044207 ms | $text | *"
gui_until marked 1435665875 1487710082
as_printed --vcpu d1v0 --at 1468595339ns
gui_click QToolButton vCPUs
gui_click_found items '*' 'd2v0 | *'
gui_click QToolButton Why
gui_click QToolButton 'At A'
gui_until gui_find widgets QLabel 'd2v0, *' >/dev/null
as_printed --vcpu d2v0 --at 1435665875ns
gui_click QToolButton 'At A, *'
gui_until gui_not gui_find widgets QToolButton 'At A, *' >/dev/null

# from A to B
gui_click QToolButton 'A to B'
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
gui_until gui_find widgets QLabel 'd2v0, 1.435665875 to 1.487710082 s: *' >/dev/null
as_printed --vcpu d2v0 --from 1435665875ns --to 1487710082ns
gui_quit

# --- KVM: a recording with two machines; a wait that a device or a timer ended, and one for a pCPU
unset VIRT_SETTINGS
file=$GUI_SAMPLES/recording-kvm/host.dat
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[markers]' shown=false \
	'[sections]' clocks=false legend=false markers=false >"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$file"
gui_click_found items '*' 'web v0 | *'
gui_until gui_find widgets QLabel '<b>web v0</b>: *' >/dev/null
gui_click QPushButton 'Zoom to it'
gui_until marked 76689343500 76717545204
gui_click QToolButton Why
gui_until gui_find items '*' '28.201704 ms | waking, waits for p3, had by: db v0 | *' >/dev/null
as_printed
gui_need grep -q 'blocked, ended by: timer, vector 0xec' "$GUI_DIR/printed"
gui_shot kvm
read -r from to < <(longest 'db v0 has p3')
gui_click_found items '*' '27.991952 ms | db v0 has p3 | *'
gui_until large "$from" "$to"
gui_until marked "$from" "$to"
as_printed
gui_split 900
gui_graphs_up
gui_shot kvm-click
gui_quit
