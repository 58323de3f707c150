# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A guest that is a host itself: its vCPU threads have combos with the threads of the host's that they
# run on, with the states of both; and above them its own guest's CPU, if there is a trace of that.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# What KernelShark uses after it was freed, as graphs that get another size while a file is appended,
# must be noticed.
export MALLOC_PERTURB_=165

# all graphs of the traces and of the combos at once
GUI_SCREEN=1640x1360 GUI_SIZE="1600 1300"

# view PLAIN FILE...: PLAIN graphs are above all combos
view()
{
	COMBO_PLAIN=$1
	combo_view "${@:2}"
	gui_until combo_note ''
	gui_same 'threads that made graphs' 1 "$(gui_ask threads)"
	gui_split 1100
}

# row K ROW FILE PID: the strip over a graph of the Kth combo, both counted from 0; of the combos
# before it, $MORE have three graphs instead of two
row()
{
	combo_strip "$1"
	VIRT_Y=$((VIRT_Y + (MORE + $2 - 1) * GUI_HEIGHT))
	virt_check_strip "graph $2 of combo $1" "$3" combo "$4"
}

look()
{
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
}

# Without a trace of L3: a thread of L2's, and what it runs on, which for one of them are two vCPUs.
check_two()
{
	look "$1"
	MORE=0
	row 0 1 "$host" 1580
	row 1 1 "$host" 1581
	row 2 0 "$guest" 141
	row 2 1 "$host" 1581
	row 2 2 "$host" 1580
	MORE=1
	row 3 0 "$guest" 142
	row 3 1 "$host" 1581
}

# L3's CPU, L2's thread, L1's thread
check_three()
{
	look "$1"
	MORE=0
	row 0 1 "$host" 2674
	row 1 1 "$host" 2675
	row 2 1 "$guest" 135
	row 2 2 "$host" 2674
	# L3's CPU has boxes of its tasks; below its base line, L2's strip begins
	gui_need [ "$(gui_pixels "$GUI_X0" "$(($(combo_base 2 0) - 3))" $((GUI_X1 - GUI_X0)) 1 |
		grep -vc '^#ffffff$')" -gt 300 ]
}

gui_init
# markers of a combo's middle graph lie on the strip below it
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[markers]' shown=false \
	>"$KS_USER_CACHE_DIR/kshark-virt.ini"
host=$GUI_SAMPLES/kvm-nested.dat guest=$GUI_SAMPLES/kvm-nested-g1.dat
view 6 "$host" "$guest"
check_two whole
# port I/O of the guest's guest
combo_zoom 455 515
check_two part
combo_zoom 400 420
check_two near
gui_quit

host=$GUI_SAMPLES/kvm-nested-linux.dat guest=$GUI_SAMPLES/kvm-nested-linux-g1.dat
inner=$GUI_SAMPLES/kvm-nested-linux-n1.dat
view 7 "$host" "$guest" "$inner"
# the machine in the machine, which has the same name, is distinguished: in dock, dialog and texts
gui_until gui_has items 'g1/g1v0 | '
combo_dialog
gui_need gui_has items 'g1/g1v0 | '
gui_shot dialog
combo_close Cancel
check_three three
combo_zoom 450 700
check_three three-part
combo_zoom 400 430
check_three three-near
# last, as markers A and B lie on strips
combo_strip 2
gui_double_click_at $(((GUI_X0 + GUI_X1) / 2)) $((VIRT_Y + GUI_HEIGHT / 4))
gui_until gui_find widgets QLabel '*g1/g1v0 * on CPU 0 of g1 for *' >/dev/null
gui_quit
