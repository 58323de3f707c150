# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Only a window of a trace is loaded: its rows, and what was running at its start. The title and the dock
# say which window it is. Buttons load the window before, the window after, or the time from A to B. A
# session restores the window.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

# titled FROM TO: the title of KernelShark's window says which part it shows
titled()
{
	[[ $(xdotool getwindowname "$GUI_MAIN") == *"trace.xen from $1 to $2 s of 0.000 to 4.005 s)" ]]
}

is_titled()
{
	[ "$(xdotool getwindowname "$GUI_MAIN")" = "$1" ]
}

# shows FROM TO: the rows, the title and the dock are of that window, in seconds with three decimals
shows()
{
	gui_until titled "$1" "$2"
	gui_until gui_find widgets QLabel "Loaded: trace.xen from $1 to $2 s of *" >/dev/null
	gui_check_list "$file" "$1 * 10**9 <= ns < $2 * 10**9"
	gui_until virt_window
	gui_still
}

# enabled BUTTON
enabled()
{
	gui_enabled widgets QPushButton "$1"
}

both_marked()
{
	[ "$(virt_markers | grep -c '[0-9]')" = 2 ]
}

gui_init
export XDG_CACHE_HOME=$GUI_DIR/cache
file=$GUI_DIR/trace.xen
cp "$GUI_SAMPLES/pinned.xen" "$file"
command=$("$KSV_BIN" view --dry-run --from 1 --to 2 "$file")
pointer=${command##* }
gui_need [ -s "$pointer" ]
virt_open "$pointer"
shows 1.000 2.000
gui_need gui_not enabled 'Load A to B'
# what went on before is known by the look back: the numbers are those of the whole trace
virt_copy 'vCPUs as text'
cp "$GUI_DIR/copied" "$GUI_DIR/of-window"
virt_copy 'Report command'
virt_run_copied --format json >"$GUI_DIR/a.json"
"$KSV_BIN" report --quiet --format json --from "${VIRT_FROM}ns" --to "${VIRT_TO}ns" "$file" \
	>"$GUI_DIR/b.json"
gui_need python3 - "$GUI_DIR"/[ab].json <<'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a["machines"] == b["machines"] and a["window_ns"] == b["window_ns"] and a["machines"]
END
gui_shot window

gui_click QPushButton Later
shows 2.000 3.000
gui_click QPushButton Later
shows 3.000 4.000
gui_click QPushButton Later
# as long as the others, up to the end
gui_until titled 3.005 4.005
gui_until gui_not enabled Later
gui_click QPushButton Earlier
gui_until titled 2.005 3.005
gui_shot moved

# between the markers
gui_click QTreeWidget '*'
xdotool key End
gui_click QPushButton 'Mark longest wait'
gui_until both_marked
gui_until enabled 'Load A to B'
gui_click QPushButton 'Load A to B'
gui_until gui_not titled 2.005 3.005
gui_still
gui_need [ "$(gui_ask count)" -gt 0 ]
gui_shot between
for i in 1 2; do
	gui_until enabled Earlier
	gui_click QPushButton Earlier
	gui_still
done
gui_alive

# a session has the window that was loaded last
gui_menu File Sessions 'Export Session'
gui_file "$GUI_DIR/session.json"
gui_until [ -s "$GUI_DIR/session.json" ]
n=$(gui_ask count)
title=$(xdotool getwindowname "$GUI_MAIN")
last=$(sed -n 's|.*"file": *"\([^"]*\)".*|\1|p' "$GUI_DIR/session.json" | tr -d '\\' | grep '\.window$')
gui_need [ -s "$last" ]
gui_quit
gui_run -s "$GUI_DIR/session.json"
# what KernelShark says of it has been said of the first window
gui_loaded "$pointer"
gui_until gui_is count "$n"
gui_until is_titled "$title"
gui_quit

# a trace that has been deleted: the window stays as it is
virt_open "$pointer"
shows 1.000 2.000
mv "$file" "$file.away"
gui_click QPushButton Later
gui_until gui_find widgets QLabel '*trace.xen: *No such file*' >/dev/null
gui_need [ "$(gui_ask count)" -gt 0 ]
titled 1.000 2.000
# so does one whose own file has been deleted
mv "$file.away" "$file"
mv "$pointer" "$pointer.away"
gui_click QPushButton Later
gui_until gui_find widgets QLabel '*/*.window: the file that stands for this window has been deleted *' >/dev/null
gui_need [ "$(gui_ask count)" -gt 0 ]
titled 1.000 2.000
mv "$pointer.away" "$pointer"
gui_click QPushButton Later
shows 2.000 3.000
gui_quit
