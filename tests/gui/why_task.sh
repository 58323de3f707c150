# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The dock's page "Why" with the traces of guests: of a physical CPU, of a guest's task, of a vCPU and along the
# critical path it shows what "kshark-virt why" prints with these traces; it is drawn over the task's graph.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"
. "$(dirname "$0")/lib_why.sh"

# virt/model/virt_colors.c, written down a second time on purpose
GUEST='#009e73'

# whose TEXT: choose it; the box shows what was chosen last
whose()
{
	gui_combo "$last" "$1"
	last=$1
	gui_until why_shown
}

# all graphs at once
GUI_SCREEN=1640x1360 GUI_SIZE="1600 1300"
gui_init
printf '%s\n' '[overlays]' labels=false arrows=false migrations=false '[markers]' shown=false '[lanes]' visible=false \
	'[sections]' clocks=false legend=false markers=false >"$KS_USER_CACHE_DIR/kshark-virt.ini"
host=$GUI_SAMPLES/kvm-host.dat
guest=$GUI_SAMPLES/kvm-guest.dat
file=$host
combo_view "$host" "$guest"
gui_click_found items '*' 'g1v1 | *'
gui_until gui_find widgets QLabel '<b>g1v1</b>: *' >/dev/null
gui_click QPushButton 'Zoom to it'
gui_until marked 1793867378051 1793893357494
gui_click QToolButton Why
last='Selected vCPU'
# a vCPU, with the tasks of its guest; how many columns there are, and so the window, is the host's affair
gui_until virt_window
whole=(--from "${VIRT_FROM}ns" --to "${VIRT_TO}ns")
as_printed "$guest" --vcpu g1v1 "${whole[@]}"
gui_need grep -q 'which had taskset-612' "$GUI_DIR/printed"
gui_shot vcpu
whose 'pCPU 1'
as_printed
gui_need grep -q ': pCPU 1$' "$GUI_DIR/printed"
gui_need grep -q 'guest code of taskset-612' "$GUI_DIR/printed"
gui_shot pcpu
whose 'kvm-guest.dat: taskset-612'
as_printed
gui_need grep -q ': g1:taskset-612$' "$GUI_DIR/printed"
gui_shot task
# a click brings the graph of the task, over which it is drawn: green where its vCPU executed it
read -r from to < <(longest 'g1v0: guest code')
gui_need [ $((to - from)) -gt 10000000 ]
gui_click_found items '*' '13.831464 ms | g1v0: guest code | *'
gui_until marked "$from" "$to"
gui_until large "$from" "$to"
as_printed
gui_split 800
gui_graphs_up
gui_shot task-click
gui_graphs
# four pCPUs, two CPUs of the guest, the task
drawn "$(gui_base 6)" "$from" "$to" "$GUEST"
# without that, it fades where its vCPU executes something else
read -r off on < <(longest 'g1v0: hypervisor')
gui_click QToolButton vCPUs
gui_shot faded
gui_graphs
colour_at()
{
	gui_pixels "$(virt_column "$1")" $(($(gui_base 6) - 6)) 1 1
}
busy=$(colour_at $(((from + to) / 2)))
pale=$(colour_at $(((off + on) / 2)))
gui_need [ $((16#${pale:1:2} + 16#${pale:3:2} + 16#${pale:5:2})) -gt \
	$((16#${busy:1:2} + 16#${busy:3:2} + 16#${busy:5:2} + 100)) ]
gui_click QToolButton Why
gui_until why_shown
# what goes on at a marker
gui_click QToolButton 'At A'
gui_until gui_find widgets QToolButton 'At A, *' >/dev/null
as_printed "$guest" --task g1:612 --at "${from}ns"
gui_click QToolButton 'At A, *'
# where it leads back to: who had to do something before it could go on
gui_click QToolButton Path
as_printed "$guest" --path --task g1:612 "${whole[@]}"
whose 'Selected vCPU'
gui_until gui_find widgets QLabel 'g1v1, *' >/dev/null
as_printed
gui_need grep -q 'guest code of taskset-612' "$GUI_DIR/printed"
gui_shot path
gui_click QToolButton Path
gui_quit

# --- Xen, with the trace of dom0's own kernel
cp "$GUI_SAMPLES"/dom0.xen "$GUI_SAMPLES/dom0-ftrace.dat" "$GUI_DIR"
"$KSV_BIN" align --quiet --write "$GUI_DIR/dom0.xen" "$GUI_DIR/dom0-ftrace.dat" >/dev/null
combo_view "$GUI_DIR/dom0.xen" "$GUI_DIR/dom0-ftrace.dat"
gui_click_found items '*' 'd0v1 | *'
gui_until gui_find widgets QLabel '<b>d0v1</b>: *' >/dev/null
gui_click QPushButton 'Zoom to it'
gui_until marked 2192181249 2230295067
gui_click QToolButton Why
as_printed
last='Selected vCPU'
whose 'dom0-ftrace.dat: bash-261'
as_printed
gui_need grep -q ': d0:bash-261$' "$GUI_DIR/printed"
gui_shot xen
gui_quit
