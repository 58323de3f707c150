# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Files that do not fit together: a guest without a host, a host of another recording, two hosts, two
# guests, Xen beside KVM, a file that is cut off. The window says what is wrong, and shows the rest.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# start FILE...: through view, without waiting for vCPUs
start()
{
	: >"$GUI_LOG"
	GUI_PROGRAM=("$KSV_BIN" view)
	gui_run "$@"
	gui_loaded "$@"
}

gui_init
host=$GUI_SAMPLES/kvm-host.dat guest=$GUI_SAMPLES/kvm-guest.dat xen=$GUI_SAMPLES/pinned.xen
other=$GUI_SAMPLES/dom0-ftrace.dat

# a guest without its host
start "$guest" "$other"
gui_until combo_note 'No host trace is open'
combo_dialog
gui_shot no-host
gui_same "lines of the dialog" "" "$(gui_ask items)"
combo_close Apply
# the dock does not come by itself; where it is, and in it what to record
gui_until gui_find widgets QLabel 'No virtual machines in this trace: View > Virtual machines *' >/dev/null
gui_need gui_not gui_find widgets QDockWidget '*' >/dev/null
gui_menu View 'Virtual machines'
gui_until gui_find widgets QLabel 'None of the open files shows virtual machines.*' >/dev/null
gui_shot nothing-virtual
# until there is something; a click while it is loaded does nothing, and the window says so
gui_place widgets QToolButton Worst
read -r x y <<<"$GUI_X $GUI_Y"
touch "$GUI_DIR/hold_append"
gui_menu File 'Append Trace File'
gui_file "$host"
gui_until test -e "$GUI_DIR/held"
gui_until gui_has windows KsWidgetsLib::KsProgressBar
xdotool mousemove "$x" "$y" click 1
gui_until gui_find widgets QStatusBar 'Not done: KernelShark loads a trace. *' >/dev/null
rm "$GUI_DIR/hold_append"
# (while it is loaded, its progress is the window in use, and has none of these)
gui_until gui_find items '*' 'g1v0 | *' >/dev/null
gui_until gui_not gui_find widgets QLabel 'None of the open files shows virtual machines.*' >/dev/null
gui_until gui_not gui_find widgets QLabel 'No virtual machines in this trace*' >/dev/null
gui_same "page after the click" on,checked "$(gui_find widgets QToolButton vCPUs | cut -d' ' -f5)"
gui_quit

# guests of two recordings: one is known, the other one belongs to no machine
start "$host" "$guest" "$other"
gui_until combo_note 'dom0-ftrace.dat: it is unknown which machine this is'
combo_dialog
gui_same "choice of vCPU 0" "kvm-guest.dat: CPU 0" "$(combo_choice 2)"
combo_close Apply
# The threads' graphs are not those of the time before the guests were appended.
gui_split 900
gui_shot two-guests
gui_graphs
COMBO_PLAIN=8
for k in 0 1; do
	base=$(combo_base "$k" 1)
	gui_need [ "$(gui_pixels "$GUI_X0" $((base - 3)) $((GUI_X1 - GUI_X0)) 1 |
		grep -vc '^#ffffff$')" -gt 100 ]
done
gui_quit

# a trace that the host does not name: the window says that it guesses; and its name is no place for a number
cp "$other" "$GUI_DIR/%1.dat"
other=$GUI_DIR/%1.dat
start "$host" "$other"
gui_until combo_note '%1.dat was not recorded together with kvm-host.dat'
combo_dialog
gui_need gui_has items '| a guess'
gui_same "choice of vCPU 1" "%1.dat: CPU 1" "$(combo_choice 3)"
# no guest inside: that is a choice, too
combo_choose 1 "no guest's trace"
gui_same "choice of vCPU 1, by the machine's" none "$(combo_choice 3)"
combo_close Apply
gui_shot nobody
combo_dialog
gui_need gui_has items '| your choice'
combo_close Cancel
gui_quit

# hosts of both kinds, and the same host twice
cp "$host" "$GUI_DIR/again.dat"
start "$host" "$xen" "$GUI_DIR/again.dat" "$guest"
combo_dialog
gui_shot hosts
gui_need gui_has items 'g1 (kvm-host.dat)'
gui_need gui_has items 'd0 (pinned.xen)'
# What was said about another guest does not count for this one.
gui_need [ "$(gui_ask items | grep -c '| the traces')" = 2 ]
combo_close Apply
gui_shot all
gui_quit

# cut off: left out, the rest is there
head -c 500000 "$guest" >"$GUI_DIR/short.dat"
: >"$GUI_LOG"
GUI_PROGRAM=("$KSV_BIN" view)
gui_run "$host" "$GUI_DIR/short.dat"
gui_loaded "$host"
gui_until virt_window
gui_need grep -q 'short.dat: cut off' "$GUI_LOG"
gui_quit
