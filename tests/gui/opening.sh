# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A window opens with the first graph in sight, however high it is: of a KVM host, with its guest, and of Xen. Combos that
# the user asks for are scrolled to. Until all is in place, and when the window gets another size, the graphs are drawn no
# more often than by KernelShark alone.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# at_top: the first graph is seen, with its label
at_top()
{
	local y head base

	gui_is scrolled 0 || return 1
	read -r _ y _ < <(gui_find widgets KsGLWidget '*')
	read -r _ head _ < <(gui_find widgets KsTraceGraph '*')
	GUI_TOP=$y GUI_HEIGHT=$((2 * $(gui_ask font)))
	base=$(gui_base 0)
	read -r _ y _ < <(gui_find widgets QSplitterHandle '*')
	[ "$base" -gt "$head" ] && [ "$base" -lt "$y" ]
}

# stays_at_top SIZE...: in windows of these sizes
stays_at_top()
{
	local size

	gui_need at_top
	for size; do
		# shellcheck disable=SC2086
		gui_resize $size
		gui_need at_top
	done
}

# opened_at_top ARGUMENT...: by view, with the settings of a first start
opened_at_top()
{
	: >"$KS_USER_CACHE_DIR/kshark-virt.ini"
	GUI_SIZE='960 534'
	combo_view "$@"
	gui_shot "small-$((++n))"
	stays_at_top '960 600' '1000 700' '1200 800' '1600 1000' '1000 600'
}

gui_init
n=0
host=$GUI_SAMPLES/kvm-host.dat guest=$GUI_SAMPLES/kvm-guest.dat
opened_at_top "$host" "$guest"
gui_quit
opened_at_top "$GUI_SAMPLES/credit2-basic.xen"
gui_quit
opened_at_top "$host"

# by the dialog
gui_resize 960 534
combo_dialog
gui_toggle 'g1 (kvm-host.dat)*'
combo_close Apply
gui_still
gui_need at_top
combo_dialog
gui_toggle 'g1 (kvm-host.dat)*'
combo_close Apply
gui_until gui_not gui_is scrolled 0
gui_shot asked-for
gui_quit

# frames: until all is in place, and of a window that gets another size
frames()
{
	GUI_SIZE='1600 1000'
	: >"$GUI_LOG"
	gui_run "$host"
	gui_loaded "$host"
	gui_until at_top
	opening=$(gui_ask frames)
	gui_resize 1500 900
	resizing=$(($(gui_ask frames) - opening))
	echo "$1: $opening frames until all is in place, $resizing for another size"
	gui_quit
}

GUI_PROGRAM=(kernelshark)
frames kernelshark
alone=$opening alone_resizing=$resizing
: >"$KS_USER_CACHE_DIR/kshark-virt.ini"
GUI_PROGRAM=("$KSV_BIN" view)
frames view
gui_need [ "$opening" -le "$alone" ]
gui_need [ "$resizing" -le "$alone_resizing" ]
