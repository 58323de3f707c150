# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A folder of LTTng as a stream of KernelShark: its list is what babeltrace2 prints, with a filter as well, and a
# session restores it. The sample has three chunks, and LTTng has discarded events.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# rows: all that the list has
rows()
{
	gui_list 0 "$(gui_ask count)" >"$GUI_DIR/rows"
}

# check_rows [HIDDEN]: they are the events of babeltrace2
check_rows()
{
	rows
	python3 "$KSV_SOURCE_DIR/tests/gui/lttng.py" "$GUI_DIR/events" "$GUI_DIR/warnings" "$GUI_DIR/rows" "$@" ||
		gui_fail "the list is not the trace"
}

if [ ! -e "${KSV_PLUGIN_LTTNG:-}" ] || ! command -v babeltrace2 >/dev/null; then
	echo "this build has no plugin-lttng, or babeltrace2 is missing"
	exit 77
fi
gui_init
tar -xJf "$GUI_SAMPLES/lttng-rotated.tar.xz" -C "$GUI_DIR"
folder=$GUI_DIR/lttng-rotated session=$GUI_DIR/session.json
babeltrace2 --clock-cycles --no-delta "$folder" >"$GUI_DIR/events" 2>"$GUI_DIR/warnings"

# 'view' hands over its copy: a second conversion would print this note again
combo_view "$folder"
gui_same "conversions" 1 "$(grep -c 'does not record all interrupts' "$GUI_LOG")"
check_rows
gui_shot all
gui_click QToolButton Events
count=$(gui_ask count)
gui_row_menu 0
event=$(gui_list 0 1 | cut -f5)
gui_choose "Hide event *$event*"
gui_until gui_not gui_is count "$count"
check_rows "$event"
cp "$GUI_DIR/rows" "$GUI_DIR/before"
gui_menu File Sessions 'Export Session'
gui_file "$session"
gui_until test -s "$session"
gui_until gui_main_active
gui_quit
gui_need grep -q 'lttng-rotated"' "$session"

# KernelShark alone, whose plugin converts the folder
GUI_PROGRAM=(kernelshark)
gui_run -s "$session"
gui_loaded "$folder"
gui_until gui_is count "$(wc -l <"$GUI_DIR/before")"
rows
gui_need cmp "$GUI_DIR/before" "$GUI_DIR/rows"
gui_same "conversions" 2 "$(grep -c 'does not record all interrupts' "$GUI_LOG")"
gui_shot session
gui_quit
