# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The dock's page "Why": what it shows of a window, of A to B, of a marker, is what "kshark-virt why" prints,
# line by line; a click on a segment zooms to it and marks it; it is drawn over the graphs.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"
. "$(dirname "$0")/lib_why.sh"

PREEMPTED='#b879b1' D2V0='#0072b2' D0V0='#44aa99'

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
gui_until gui_find widgets QLabel 'Select a vCPU in the table*' >/dev/null
# there is nothing to copy yet
gui_click QToolButton Copy
gui_until gui_enabled actions '*Menu' 'Report command'
gui_need gui_not gui_enabled actions '*Menu' 'Why command'
xdotool key Escape
gui_until gui_no_menu
gui_click QToolButton vCPUs
gui_click_found items '*' 'd1v0 | *'
gui_until gui_find widgets QLabel '<b>d1v0</b>: *' >/dev/null
gui_click QToolButton Why
as_printed
gui_need grep -q ' unexplained: ' "$GUI_DIR/printed"
gui_split 560
gui_shot whole
gui_graphs

# where it waited longest; a click zooms to a segment and marks it, brings who is to blame, and the tree stays
gui_click QToolButton vCPUs
gui_click QPushButton 'Zoom to it'
gui_until marked 1435665875 1487710082
gui_click QToolButton Why
gui_until large 1435665875 1487710082
text='preempted, waits for pCPU 1, which d2v0 has'
gui_until gui_find items '*' "52.044207 ms | $text; * | *" >/dev/null
as_printed
cp "$GUI_DIR/printed" "$GUI_DIR/before"
gui_shot near
gui_graphs
# five graphs: four pCPUs, d1v0
drawn "$(gui_base 4)" 1435665875 1487710082 "$PREEMPTED"
drawn "$(gui_base 1)" 1435667531 1468595339 "$D2V0"
drawn "$(gui_base 1)" 1468596133 1487710082 "$D0V0"
read -r from to < <(segment 'd2v0 has pCPU 1')
gui_click_found items '*' "32.927808 ms | d2v0 has pCPU 1 | *"
gui_until large "$from" "$to"
gui_until marked "$from" "$to"
gui_until gui_find widgets QLabel '*d2v0 has pCPU 1: 32.927808 ms*' >/dev/null
as_printed
gui_need cmp -s "$GUI_DIR/before" "$GUI_DIR/printed"
gui_split 640
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

# of a marker: what goes on there, as --at has it; for any chosen vCPU
gui_until why_shown
gui_click QToolButton 'At A'
gui_until gui_find widgets QToolButton "At A, 1.435667531 s *" >/dev/null
as_printed --vcpu d1v0 --at 1435667531ns
gui_same 'segments at the marker' 5 "$(($(wc -l <"$GUI_DIR/printed") - 3))"
gui_click QToolButton 'At B'
gui_until gui_find widgets QToolButton "At B, 1.468595339 s *" >/dev/null
as_printed --vcpu d1v0 --at 1468595339ns
gui_click_found items '*' "52.044207 ms | $text; * | *"
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
gui_until gui_find items '*' '28.201704 ms | waking, waits for pCPU 3, which db v0 has | *' >/dev/null
as_printed
gui_need grep -q 'blocked, ended by: interrupt' "$GUI_DIR/printed"
gui_shot kvm
gui_split 450
read -r from to < <(longest 'db v0 has pCPU 3')
gui_click_found items '*' '27.991952 ms | db v0 has pCPU 3 | *'
gui_until large "$from" "$to"
gui_until marked "$from" "$to"
as_printed
gui_split 640
gui_graphs_up
gui_shot kvm-click
gui_quit
