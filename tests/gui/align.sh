# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Clocks of hosts and guests: aligned by the dock's button and by what is stored beside the guest,
# undone, moved by hand, kept by sessions; refused where they do not belong together. That the
# guest's rows lie in guest time is judged by the list's times and the host's model.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# clock TEXT: the dock says so (a glob)
clock()
{
	gui_find widgets QLabel "$1" >/dev/null
}

clock_text()
{
	gui_ask widgets | awk -F '\t' '$2 == "ns" { on = 1; next }
		on && $1 == "QLabel" { print $2; on = 0 }'
}

# window_before NS: the dock shows a window that begins before this
window_before()
{
	virt_window && [ "$VIRT_FROM" -lt "$1" ]
}

# first_row STREAM: time of its first row in the list, in us
first_row()
{
	gui_ask "of $1 1 4" | awk -F '\t' '{ sub(/\./, "", $4); print $4 + 0 }'
}

# inside HOST TIDS: of the guest's rows that are within the host's trace, all are in guest time
inside()
{
	local csv

	csv=$GUI_DIR/$(basename "$1").model
	[ -e "$csv" ] || "$KSV_MODEL_CSV" "$1" >"$csv"
	gui_ask "of $3 1000000000 4" >"$GUI_DIR/rows"
	python3 "$KSV_SOURCE_DIR/tests/gui/align_lib.py" "$csv" "$2" "$GUI_DIR/rows" "$3"
}

# align_json HOST GUEST KEY: what the command finds
align_json()
{
	"$KSV_BIN" align --quiet --format json "$1" "$2" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$3"
}

# twice BUTTON: pressed again before its thread can have come to an end, unless the machine is so full that the
# window does not run before that
twice()
{
	local x y w h

	gui_until gui_enabled widgets QPushButton "$1"
	read -r x y w h _ < <(gui_find widgets QPushButton "$1")
	xdotool mousemove $((x + w / 2)) $((y + h / 2))
	kill -STOP "$GUI_SHARK"
	xdotool click --repeat 2 --delay 1 1
	kill -CONT "$GUI_SHARK"
}

# cancelled: of two clicks on Align the second one was in time
cancelled()
{
	twice Align
	gui_until clock_says_either 'Clock as recorded*Not aligned: cancelled' 'Aligned with *'
	clock 'Clock as recorded*Not aligned: cancelled' && return
	gui_until gui_enabled widgets QPushButton Undo
	gui_click QPushButton Undo
	gui_until clock 'Clock as recorded*'
	return 1
}

clock_says_either()
{
	clock "$1" || clock "$2"
}

# session NAME: save one and end KernelShark
session()
{
	gui_menu File Sessions 'Export Session'
	gui_file "$GUI_DIR/$1.json"
	gui_until test -s "$GUI_DIR/$1.json"
	gui_until gui_main_active
	gui_quit
}

gui_init
for name in kvm-nosync kvm-nosync-g1 kvm-migration kvm-migration-g1; do
	cp "$GUI_SAMPLES/$name.dat" "$GUI_DIR"
done
host=$GUI_DIR/kvm-nosync.dat guest=$GUI_DIR/kvm-nosync-g1.dat
found=$(align_json "$host" "$guest" offset)

# by the button
combo_view "$host" "$guest"
gui_until clock 'Clock as recorded*'
gui_same "offset at first" 0 "$(offset)"
before=$(first_row 1)
gui_need gui_not inside "$host" 1013,1014 1
gui_click QPushButton Align
gui_until clock 'Aligned with kvm-nosync.dat by causality: *All * events fall while the guest was running'
gui_same "offset found" "$found" "$(offset)"
inside "$host" 1013,1014 1
combo_split 6 2
gui_shot aligned

# cancelled, and undone
gui_click QPushButton Undo
gui_until clock 'Clock as recorded*'
gui_until cancelled
gui_until gui_enabled widgets QPushButton Align
gui_same "offset where it is cancelled" 0 "$(offset)"
gui_same "first row where it is cancelled" "$before" "$(first_row 1)"
gui_shot cancelled
gui_click QPushButton Align
gui_until clock 'Aligned with *'

# undone, and again
gui_click QPushButton Undo
gui_until clock 'Clock as recorded*'
gui_until offset_is 0
gui_same "first row of the guest" "$before" "$(first_row 1)"
gui_click QPushButton Align
gui_until clock 'Aligned with *'

# the guest 3 ms later by hand: the dock warns
after=$(first_row 1)
type_offset $((found + 3000000))
gui_until clock '*and 3000000 ns by hand*<b>Its clock is wrong: only *'
gui_same "guest's rows, moved by hand" $((after + 3000)) "$(first_row 1)"
gui_until grep -q 'kshark-virt: kvm-nosync-g1.dat: .*Its clock is wrong' "$GUI_LOG"
gui_click QPushButton Undo
gui_until offset_is "$found"

# the host a second earlier: its strips go with it; what is selected to be typed over stays so while
# the graphs are drawn and the dock looks at the clocks again
clock_of '0: kvm-nosync.dat'
gui_until virt_window
click_offset
xdotool key ctrl+a
gui_resize 1500 1000
xdotool type --delay 1 -- -1000
xdotool key Return
gui_until offset_is -1000
gui_click QPushButton Undo
gui_until offset_is 0
gui_resize 1600 1000
gui_until virt_window
from=$VIRT_FROM
type_offset -1000000000
gui_until clock 'Times of the file, moved by hand*'
gui_until window_before $((from - 500000000))
awk -F, 'BEGIN { OFS = ","; CONVFMT = "%.0f" } NR > 1 { $3 -= 1000000000; $4 -= 1000000000 } 1' \
	"$GUI_DIR/kvm-nosync.dat.model" >"$GUI_DIR/moved" &&
	mv "$GUI_DIR/moved" "$GUI_DIR/kvm-nosync.dat.model"
gui_shot host-moved
gui_graphs
combo_check 0 "$host" 1013
gui_click QPushButton Undo
gui_until offset_is 0
rm "$GUI_DIR/kvm-nosync.dat.model"

# kept by a session, with the same words, and not applied twice
clock_of '1: kvm-nosync-g1.dat'
gui_until clock 'Aligned with *fall while the guest was running'
gui_still
text=$(clock_text)
gui_click QPushButton Store
gui_until clock '*Stored in kvm-nosync-g1.dat.meta.json'
gui_same "offset stored" "$found" "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["alignment"]["offset"])' "$guest.meta.json")"
session aligned
gui_run -s "$GUI_DIR/aligned.json"
gui_loaded "$host" "$guest"
gui_until clock "${text//[/\\[}"
gui_same "offset of the session" "$found" "$(offset)"
inside "$host" 1013,1014 1
gui_quit

# the stored alignment counts, in each order of the files; a session keeps an Undo
combo_view "$guest" "$host"
gui_until clock 'Aligned with kvm-nosync.dat by causality: *All *'
gui_same "offset stored" "$found" "$(offset)"
inside "$host" 1013,1014 0
gui_click QPushButton Undo
gui_until clock 'Clock as recorded*'
session undone
gui_run -s "$GUI_DIR/undone.json"
gui_loaded "$guest" "$host"
gui_until clock 'Clock as recorded*'
gui_same "offset of the session" 0 "$(offset)"
gui_quit

# trace-cmd's own offsets are wrong
combo_view "$GUI_SAMPLES/kvm-ptp.dat" "$GUI_SAMPLES/kvm-ptp-g1.dat"
gui_until clock 'Clock as recorded*<b>Its clock is wrong: only *'
gui_click QPushButton Align
gui_until clock "Aligned with kvm-ptp.dat by causality: *without trace-cmd's own offsets*All *\
trace-cmd's own offsets are wrong*"
gui_quit

# without trace-cmd's own offsets, which libtracecmd has applied already
host=$GUI_DIR/kvm-migration.dat guest=$GUI_DIR/kvm-migration-g1.dat
"$KSV_BIN" align --source causality --write "$host" "$guest" >/dev/null
combo_view "$host" "$guest"
gui_until clock "*by causality: *without trace-cmd's own offsets*All *"
inside "$host" 2394,2395 1
session hidden
gui_run -s "$GUI_DIR/hidden.json"
gui_loaded "$host" "$guest"
gui_until clock "*by causality: *without trace-cmd's own offsets*All *"
inside "$host" 2394,2395 1
gui_quit

# cycles beside a host that is shown in ns; some times are before 0, which sessions restore as well
cp "$GUI_SAMPLES/dom0.xen" "$GUI_SAMPLES/dom0-ftrace.dat" "$GUI_DIR"
host=$GUI_DIR/dom0.xen guest=$GUI_DIR/dom0-ftrace.dat
combo_view "$guest" "$host"
clock_of '0: dom0-ftrace.dat'
gui_click QPushButton Align
gui_until clock 'Aligned with dom0.xen by tsc: *cycles shown as ns of a TSC of *All *'
inside "$host" 10000,10001 0
gui_need [ "$(first_row 0)" -lt 0 ]
session cycles
gui_run -s "$GUI_DIR/cycles.json"
gui_loaded "$guest" "$host"
gui_until clock 'Aligned with dom0.xen by tsc: *cycles shown as ns of a TSC of *All *'
inside "$host" 10000,10001 0
gui_need [ "$(first_row 0)" -lt 0 ]
gui_quit

# not a pair: nothing is changed
combo_view "$GUI_SAMPLES/kvm-host.dat" "$GUI_SAMPLES/kvm-nested-g1.dat"
before=$(first_row 1)
clock_of '1: kvm-nested-g1.dat'
gui_click QPushButton Align
gui_until clock 'Clock as recorded*Not aligned: *'
gui_same "offset where it is refused" 0 "$(offset)"
gui_same "first row where it is refused" "$before" "$(first_row 1)"
gui_quit
