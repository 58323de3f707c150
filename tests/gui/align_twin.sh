# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A guest that two machines of its host fit equally well: aligned when the user has chosen one.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# clock TEXT: the dock says so (a glob)
clock()
{
	gui_find widgets QLabel "$1" >/dev/null
}

# fold ITEM: hide the vCPUs of a machine in the dialog
fold()
{
	local x y w h

	gui_until gui_enabled items '*' "$1"
	read -r x y w h _ < <(gui_find items '*' "$1")
	gui_click_at $((x + 60)) $((y + h / 2))
	xdotool key Left
}

# lines N: the dialog shows as many choices
lines()
{
	[ "$(gui_ask widgets | grep -c '^QComboBox')" = "$1" ]
}

gui_init
host=$GUI_DIR/twin.xen guest=$GUI_DIR/domU-ftrace.dat
python3 "$KSV_SOURCE_DIR/tests/gui/xen_twin.py" "$GUI_SAMPLES/domU.xen.gz" "$host"
cp "$GUI_SAMPLES/domU-ftrace.dat" "$guest"
combo_view "$host" "$guest"
clock_of '1: domU-ftrace.dat'
gui_click QPushButton Align
gui_until clock '*Not aligned: d1 and d1001 of its host fit as well as each other. Choose *'
gui_same "offset while it is unknown" 0 "$(offset)"
gui_shot refused

# the twin is it, which would not come first by itself
combo_dialog
fold 'd0 (twin.xen) | *'
fold 'd1000 (twin.xen) | *'
gui_until lines 8
combo_choose 7 'domU-ftrace.dat: CPU 0'
combo_choose 8 'domU-ftrace.dat: CPU 1'
gui_shot chosen
combo_close Apply
gui_click QPushButton Align
gui_until clock 'Aligned with twin.xen by causality: *'
gui_until clock '*All *'
gui_shot aligned
gui_click QPushButton Store
gui_until clock '*Stored in domU-ftrace.dat.meta.json'
gui_same "vCPUs stored" '10020000 10020001' "$(python3 -c 'import json, sys
print(*(v["tid"] for v in json.load(open(sys.argv[1]))["alignment"]["vcpus"]))' "$guest.meta.json")"
gui_quit
