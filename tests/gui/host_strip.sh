# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Above the lanes, the time of the host's pCPUs by kind and its memory: as the samples beside its trace have them; without
# samples, there is nothing, and lanes are where they were.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

gui_init
gunzip -c "$GUI_SAMPLES/host-samples.dat.gz" >"$GUI_DIR/host.dat"

# column X: the colours of a column of the strip, from below, each with its height: "3 #rrggbb"
column()
{
	gui_pixels "$1" $((y + 1)) 1 16 | tac | uniq -c | awk '{ print $1, $2 }'
}

# check_columns: as many pixels of each kind of time as the samples have, from below; the line of the memory hides one
check_columns()
{
	local x n=0

	gui_shot "$1"
	gui_graphs
	for x in $(seq $((GUI_X0 + 20)) 61 $((GUI_X1 - 20))); do
		column "$x" >"$GUI_DIR/column"
		gui_need python3 "$KSV_SOURCE_DIR/tests/gui/host_strip.py" "$GUI_SAMPLES/host-samples.dat.gz.samples.csv" "$VIRT_FROM" "$VIRT_TO" \
			$((x - GUI_X0)) $((GUI_X1 - GUI_X0 + 1)) "$GUI_DIR/column"
		n=$((n + 1))
	done
	gui_need [ "$n" -ge 8 ]
}

# KernelShark gets an unpacked copy, with the samples beside it
printf '%s\n' "${GUI_STRIPS_ONLY[@]/visible=false/visible=true}" >"$KS_USER_CACHE_DIR/kshark-virt.ini"
GUI_PROGRAM=("$KSV_BIN" view)
gui_run "$GUI_SAMPLES/host-samples.dat.gz"
gui_loaded
gui_until virt_window
gui_still
read -r _ y _ < <(gui_find widgets QWidget 'Samples of the host')
gui_need [ -n "$y" ]
check_columns whole
virt_zoom $((GUI_X0 + 200)) $((GUI_X0 + 420))
gui_still
gui_until virt_window
check_columns zoomed
# a small window stays small: it has room for three lines of warnings
gui_resize 960 534
gui_until virt_window
gui_same "height of the window" 534 "$(gui_ask windows | cut -f6)"
read -r _ y _ < <(gui_find widgets QWidget 'Samples of the host')
check_columns small
gui_quit

combo_view "$GUI_DIR/host.dat"
gui_need gui_has_not widgets "Samples of the host"
gui_quit
