# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A guest that is paired with the wrong machine, or with exchanged vCPUs: the dock does not blame its
# clock, says what its events fit, and a button takes that; it is kept for the next start.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

press=

seen()
{
	gui_find widgets QLabel "$1" >/dev/null
}

# take: click on the button; with $press, slowly: what the dock aligns is aligned before the release
take()
{
	gui_place widgets QPushButton 'Use this pairing'
	xdotool mousemove "$GUI_X" "$GUI_Y" mousedown 1
	gui_until gui_mouse 1 "$GUI_X" "$GUI_Y"
	if [ -n "$press" ]; then
		rm "$GUI_DIR/hold"
		gui_until gui_not seen 'kvm-nosync-g1.dat: *'
		gui_shot pressed
	fi
	xdotool mouseup 1
}

# taken GUEST: by the button; then all is right
taken()
{
	gui_shot wrong
	gui_need gui_not seen '*Its clock is wrong*'
	gui_need grep -q "kshark-virt: $1: It is paired with the wrong" "$GUI_LOG"
	take
	gui_until gui_not seen '*It is paired with the wrong*'
	gui_until seen '*All * events fall while the guest was running*'
	gui_need gui_not gui_find widgets QPushButton 'Use this pairing' >/dev/null
}

gui_init

# dom0's own trace as that of the other domain
export XEN_CPUHZ=1000000000 XEN_ABSTS=1
host=$GUI_SAMPLES/dom0.xen guest=$GUI_SAMPLES/dom0-ftrace.dat
combo_view "$host" "$guest"
combo_dialog
combo_choose 2 none
combo_choose 3 none
combo_choose 5 'dom0-ftrace.dat: CPU 0'
combo_choose 6 'dom0-ftrace.dat: CPU 1'
combo_close Apply
gui_until seen 'dom0-ftrace.dat: It is paired with the wrong machine: its events fit d0 (PID 10000) instead, *'
taken dom0-ftrace.dat
combo_split 6 2
gui_shot taken
gui_graphs
gui_until virt_window
combo_check 0 "$host" 10000
combo_check 1 "$host" 10001
gui_quit

# for good
combo_view "$host" "$guest"
clock_of '1: dom0-ftrace.dat'
gui_until seen '*All * events fall while the guest was running*'
combo_dialog
gui_same "choice of d0v0" "dom0-ftrace.dat: CPU 0" "$(combo_choice 2)"
gui_same "choice of d0v1" "dom0-ftrace.dat: CPU 1" "$(combo_choice 3)"
gui_same "choice of d1v0" none "$(combo_choice 5)"
combo_close Cancel
gui_quit

# exchanged vCPUs; beside them another guest whose clock is wrong
host=$GUI_SAMPLES/kvm-nosync.dat guest=$GUI_SAMPLES/kvm-nosync-g1.dat
combo_view "$GUI_SAMPLES/kvm-host.dat" "$GUI_SAMPLES/kvm-guest.dat" "$host" "$guest"
combo_dialog
combo_choose 2 'kvm-guest.dat: CPU 1'
combo_choose 3 'kvm-guest.dat: CPU 0'
combo_close Apply
gui_until seen 'kvm-guest.dat: It is paired with the wrong vCPUs: its events fit CPU 0 = g1v0, CPU 1 = g1v1 instead, 100.000 % against *'
# the other warning goes while the button of this one is pressed
clock_of '3: kvm-nosync-g1.dat'
gui_until seen 'kvm-nosync-g1.dat: *'
touch "$GUI_DIR/hold"
gui_click QPushButton Align
gui_until test -e "$GUI_DIR/held"
press=held
taken kvm-guest.dat
gui_quit
