# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Arrows of wake-ups: from the waker's graph to the woken vCPU's, or to the CPU that it comes to; those that
# "export" lists and no others, none where there is no room; a double click describes them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

# virt/model/virt_colors.c, written down a second time on purpose
WAKING='#f0e442'
TABLES=$GUI_DIR/tables

# wakeups [check]: by the tables, in the window
wakeups()
{
	python3 "$KSV_SOURCE_DIR/tests/gui/wakeups.py" "$@" "$TABLES" "$VIRT_FROM" "$VIRT_TO" \
		"$GUI_X0" "$GUI_X1" "$GUI_HEIGHT" "${graphs[@]}"
}

# coloured: "GAP X" of what has the arrows' colour in the last photograph, below each graph but the last
coloured()
{
	local gap

	for ((gap = 0; gap + 1 < ${#graphs[@]}; gap++)); do
		gui_pixels "$GUI_X0" $(($(gui_base "$gap") + 3)) $((GUI_X1 + 1 - GUI_X0)) 1 |
			awk -v gap="$gap" -v x="$GUI_X0" -v c="$WAKING" '$0 == c { print gap, x + NR - 1 }'
	done
}

# same NAME: the photograph has the arrows of the tables; prints how many arrows these are
same()
{
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	coloured >"$GUI_DIR/coloured"
	wakeups check <"$GUI_DIR/coloured" >"$GUI_DIR/compared" ||
		gui_fail "arrows in $GUI_SHOT: $(<"$GUI_DIR/compared")"
	sed "s/^/$1: /" "$GUI_DIR/compared" >&2
	read -r arrows _ <"$GUI_DIR/compared"
}

# near NS: zoom to it
near()
{
	local x

	x=$(virt_column "$1")
	virt_zoom $((x - 25 < GUI_X0 ? GUI_X0 : x - 25)) $((x + 25 > GUI_X1 ? GUI_X1 : x + 25))
}

whole()
{
	local from=$VIRT_FROM to=$VIRT_TO

	gui_click QPushButton '- -'
	gui_until virt_window_not "$from" "$to"
}

# times: moments, far apart, when a vCPU woke another one
times()
{
	wakeups | cut -d, -f4 | sort -nu | awk -v step=$(((VIRT_TO - VIRT_FROM) / 15)) \
		'$1 >= next_one { print; next_one = $1 + step }'
}

# throughout NAME LEAST: the same near moments of all of the trace, with at least LEAST arrows
throughout()
{
	local time n=0

	while read -r time; do
		near "$time"
		same "$1"
		n=$((n + arrows))
		whole
	done < <(times)
	gui_need [ "$n" -ge "$2" ]
}

gui_init
VIRT_SETTINGS=('[markers]' shown=false)
file=$GUI_SAMPLES/hvm-io.xen
"$KSV_BIN" export --quiet --format csv-tables -o "$TABLES" "$file"
virt_open "$file"
gui_shot off
gui_graphs
gui_until virt_window

# CPUs alone: slanted, from where the waker is to where the woken vCPU comes to
graphs=(pcpu:0 pcpu:1 pcpu:2)
gui_same "arrows while they are switched off" '' "$(coloured)"
virt_overlay Wakers
gui_shot whole
gui_same "arrows where there is no room for them" '' "$(coloured)"
throughout cpus 5

# with those of vCPUs: straight, from graph to graph
for vcpu in d0v0 d0v1 d1v0; do
	gui_click_found items '*' "$vcpu | *"
	gui_still
done
gui_split 800
gui_shot whole-vcpus
gui_graphs
gui_until virt_window
graphs+=(vcpu:d0v0 vcpu:d0v1 vcpu:d1v0)
throughout vcpus 10

# the text of one, with the markers where it has been woken and where it runs
IFS=', ' read -r gap x waker woken time run < <(wakeups | awk '$1 >= 3 && !n++')
near "$time"
gui_shot near-one
gui_graphs
IFS=', ' read -r gap x _ < <(wakeups | grep ",$time,")
gui_double_click_at "$x" $(($(gui_base "$gap") + 6))
gui_until virt_details "$woken was woken and waits for a pCPU"
gui_until virt_details "its wait was ended by $waker"
virt_at_marker 'marker A' "$time" 0
virt_at_marker 'marker B' "$run" 1
gui_quit
