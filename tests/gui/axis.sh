# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A time axis is seen even if KernelShark's own is scrolled away: its ticks are where its numbers say.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

AXIS='[0-9]* s'
BLACK='#000000'

# axis: the widget
axis()
{
	gui_find widgets QLabel "$AXIS"
}

no_axis()
{
	[ -z "$(axis)" ]
}

# numbers: that stand there, in s
numbers()
{
	gui_ask widgets | awk -F '\t' '$1 == "QLabel" && $2 ~ /^[0-9.]+( [0-9.]+)* s$/ { sub(/ s$/, "", $2); print $2 }'
}

# check_ticks N: there are N at least, each at its time, and none beside it
check_ticks()
{
	local x y w h number ns column n=0

	gui_shot "$2"
	gui_until virt_window
	read -r x y w h _ < <(axis)
	for number in $(numbers); do
		ns=$(awk -v s="$number" 'BEGIN { printf "%.0f", s * 1e9 }')
		gui_need [ "$ns" -ge "$VIRT_FROM" ]
		gui_need [ "$ns" -lt "$VIRT_TO" ]
		column=$((GUI_X0 + (ns - VIRT_FROM) * (GUI_X1 - GUI_X0 + 1) / (VIRT_TO - VIRT_FROM)))
		# where a column ends depends on the rounding of its length
		gui_same "ticks at $number s" 1 "$(gui_pixels $((column - 2)) $((y + h - 3)) 5 1 |
			awk -v black="$BLACK" '$1 == black { n++ } END { print n + 0 }')"
		n=$((n + 1))
	done
	gui_need [ "$n" -ge "$1" ]
}

# wheel BUTTON N: over the graphs
wheel()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets KsTraceGraph '*')
	xdotool mousemove $((x + w / 2)) $((y + h * 3 / 4)) click --repeat "$2" "$1"
}

gui_init
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[markers]' shown=false >"$KS_USER_CACHE_DIR/kshark-virt.ini"
COMBO_PLAIN=6
combo_view "$GUI_SAMPLES/kvm-boot.dat" "$GUI_SAMPLES/kvm-boot-g1.dat"
gui_until combo_note ''
# at its top, KernelShark's own is seen, which shows where columns are
wheel 4 40
gui_until no_axis
gui_shot own
gui_graphs
wheel 5 40
gui_until axis >/dev/null
check_ticks 3 whole
gui_quit
