# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Strips over the graphs of CPUs and vCPUs, pixel by pixel: all, a part, the edges, inside a single
# interval; with and without filters.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

# check_all NAME: photograph, then compare each graph
check_all()
{
	local i

	gui_shot "$1"
	gui_graphs
	virt_window
	for i in "${!graphs[@]}"; do
		# shellcheck disable=SC2086
		virt_check "$i" "$file" ${graphs[i]}
	done
}

whole()
{
	local from=$VIRT_FROM to=$VIRT_TO

	gui_click QPushButton '- -'
	gui_until virt_window_not "$from" "$to"
}

gui_init
# the list of vCPUs needs the room
VIRT_SETTINGS=('[sections]' clocks=false legend=false markers=false)
while read -r name vcpu pid; do
	file=$GUI_SAMPLES/$name.xen
	virt_open "$file"
	graphs=('pcpu 0' 'pcpu 1' 'pcpu 2' 'pcpu 3' "vcpu $pid")
	gui_click_found items '*' "$vcpu | *"
	gui_split 800
	gui_shot start
	gui_graphs
	width=$((GUI_X1 - GUI_X0))
	check_all "$name-whole"
	virt_zoom $((GUI_X0 + width / 2)) $((GUI_X0 + width * 6 / 10))
	check_all "$name-part"
	virt_zoom $((GUI_X0 + width / 3)) $((GUI_X0 + width / 3 + 12))
	check_all "$name-deep"
	virt_zoom $((GUI_X0 + width / 3)) $((GUI_X0 + width / 3 + 12))
	check_all "$name-deeper"
	whole
	virt_zoom "$GUI_X0" $((GUI_X0 + width / 50))
	check_all "$name-left"
	whole
	virt_zoom $((GUI_X1 - width / 25)) "$GUI_X1"
	check_all "$name-right"
	whole

	gui_menu Filter 'Show tasks'
	gui_dialog KsCheckBoxDialog
	gui_toggle "$pid | $vcpu"
	gui_apply
	check_all "$name-filtered"
	gui_quit
done <<'END'
hvm-exits d1v0 20000
lost-records d1v1 20001
END
