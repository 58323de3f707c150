# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Bookmarks with notes, of a moment and of a selected time: drawn where they are, listed, shown again, deleted. A
# session keeps them, the page, what is selected, the figures from A to B, and how far the graphs are scrolled.
# Sessions that a user has changed are restored as far as they can be understood, or refused with a sentence.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

BOOKMARK='#aa3377'

# note TEXT: into the field that is open
note()
{
	gui_until gui_find widgets QExpandingLineEdit '*' >/dev/null
	xdotool key ctrl+a type --delay 1 "$1"
	xdotool key Return
	gui_until gui_not gui_find widgets QExpandingLineEdit '*' >/dev/null
}

# flag X: number of pixels of bookmarks in this column below the axis
flag()
{
	gui_count_colour "$BOOKMARK" "$1" $((GUI_TOP + 30)) 1 10
}

# marks: the list, one a line
marks()
{
	gui_ask items | cut -f1
}

marks_are()
{
	[ "$(marks)" = "$1" ]
}

scrolled()
{
	gui_ask scrolled
}

gui_init
VIRT_SETTINGS=('[markers]' shown=false '[sections]' clocks=false legend=false markers=false overlays=false)
file=$GUI_SAMPLES/migration.xen
virt_open "$file"
gui_shot empty
gui_graphs
gui_until virt_window
column=$(((VIRT_TO - VIRT_FROM) / (GUI_X1 - GUI_X0)))
gui_same "bookmarks before the first" 0 "$(gui_count_colour "$BOOKMARK" "$GUI_X0" "$GUI_TOP" $((GUI_X1 - GUI_X0)) 60)"

# a moment, at the pointer
x=$((GUI_X0 + (GUI_X1 - GUI_X0) / 3)) y=$(($(gui_base 1) - 5))
xdotool mousemove "$x" "$y"
gui_until gui_mouse 0 "$x" "$y"
xdotool key b
note 'the first; <b>&amp;'
moment=$(marks | cut -d' ' -f1)
at=$((10#${moment/./}))
gui_need [ $((at - VIRT_FROM - (x - GUI_X0) * column)) -lt $((2 * column)) ]
gui_need [ $((VIRT_FROM + (x - GUI_X0) * column - at)) -lt $((2 * column)) ]
gui_same "the list" "$moment |  | the first; <b>&amp;" "$(marks)"

# a time that is selected; it is earlier, and so comes first
x0=$((GUI_X0 + (GUI_X1 - GUI_X0) / 8)) x1=$((GUI_X0 + (GUI_X1 - GUI_X0) / 4))
xdotool keydown shift
gui_drag "$x0" "$y" "$x1" "$y"
xdotool keyup shift
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
xdotool key b
note 'a long one'
gui_same "notes in order of time" "a long one/the first; <b>&amp;/" "$(marks | sed 's/.* | //' | tr '\n' /)"
length=$(marks | head -n 1 | awk -F ' \\| ' '{ print $2 }')
gui_until gui_find widgets QLabel "A to B: <b>$length</b>*" >/dev/null

# drawn: the moment's column, both ends of the long one, and nowhere else
xdotool mousemove 10 10
gui_shot drawn
gui_graphs
gui_need [ "$(flag "$x")" -gt 3 ] || [ "$(flag $((x + 1)))" -gt 3 ]
gui_need [ "$(flag $((x + 30)))" = 0 ]
gui_need [ "$(flag $(((x0 + x1) / 2)))" -gt 0 ]
gui_need [ "$(flag $((x1 + 30)))" = 0 ]
# with a line through all graphs
read -r _ _ _ h _ < <(gui_find widgets KsGLWidget '*')
gui_need [ "$(gui_count_colour "$BOOKMARK" $((x - 1)) $((GUI_TOP + 50)) 3 $((h / 2)))" -gt $((h / 4)) ]
# and over the lanes
gui_menu View Lanes
gui_until gui_find widgets QAbstractScrollArea '*' >/dev/null
gui_shot lanes
read -r lx ly lw lh _ < <(gui_find widgets QAbstractScrollArea '*')
gui_need [ "$(gui_count_colour "$BOOKMARK" "$lx" "$ly" "$lw" "$lh")" -gt $((lh * 2)) ]
gui_menu View Lanes
gui_until gui_not gui_find widgets QAbstractScrollArea '*' >/dev/null
gui_still

# the pointer on the flag shows the note; a click in the list shows the time again
xdotool mousemove $((x + 3)) $((GUI_TOP + 36))
gui_until gui_has windows QTipLabel
gui_until gui_find widgets QTipLabel '*the first; &lt;b&gt;&amp;amp;*' >/dev/null ||
	gui_fail "no tip"
xdotool mousemove 10 10
gui_click QToolButton "×"
gui_until gui_find widgets QLabel 'Visible: *' >/dev/null
gui_until virt_window
before=("$VIRT_FROM" "$VIRT_TO")
gui_click_found items '*' '* | a long one'
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
gui_still
# a third one, and no more
xdotool mousemove $((GUI_X0 + 500)) "$y"
gui_click QPushButton Add
note 'the long one once more'
gui_same "same time, one bookmark" 2 "$(marks | wc -l)"
gui_click QToolButton "×"
gui_click QPushButton Add
note third
gui_same "bookmarks" 3 "$(marks | wc -l)"
gui_click QPushButton Delete
gui_until marks_are "$(marks | grep -v third)"
gui_same "bookmarks after a deletion" 2 "$(marks | wc -l)"
virt_copy 'Bookmarks as text'
gui_same "copied" 3 "$(wc -l <"$GUI_DIR/copied")"

# the session: a page, a vCPU, from A to B, and scrolled graphs
gui_click_found items '*' '* | the long one once more'
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
kept_marks=$(marks)
gui_click QToolButton vCPUs
gui_click_found items '*' 'd1v1 | *'
gui_until gui_find widgets QLabel '<b>d1v1</b>*' >/dev/null
gui_click QToolButton Steal
# not all graphs fit
gui_split 330
# on the bar: the graphs of KernelShark 2.4 do not scroll by the wheel
read -r gx gy gw gh _ < <(gui_find widgets KsGLWidget '*')
xdotool mousemove $((gx + gw + 7)) $((gy + gh / 4)) click 5
gui_still
xdotool mousemove 10 10
kept_scroll=$(scrolled)
gui_need [ "$kept_scroll" -gt 0 ]
kept_line=$(gui_find widgets QLabel '<b>d1v1</b>*' >/dev/null; gui_ask widgets | awk -F '\t' '$2 ~ /^<b>d1v1/ { print $2 }')
session=$GUI_DIR/session.json
gui_menu File Sessions 'Export Session'
gui_file "$session"
gui_until test -s "$session"
gui_until gui_main_active
gui_shot exported
gui_quit

# restored FILE
restored()
{
	gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
	gui_until gui_shows widgets QLabel '<b>d1v1</b>'
	gui_still
	gui_same "page" on,checked "$(gui_find widgets QToolButton Steal | cut -d' ' -f5)"
	gui_same "what is selected" "$kept_line" \
		"$(gui_ask widgets | awk -F '\t' '$2 ~ /^<b>d1v1/ { print $2 }')"
	gui_same "scrolled" "$kept_scroll" "$(scrolled)"
	gui_click QToolButton Bookmarks
	gui_until marks_are "$kept_marks"
}

gui_run -s "$session"
gui_loaded "$file"
restored
gui_shot restored
# everything else, then the import of it
gui_click QToolButton "×"
gui_click QToolButton vCPUs
gui_click_found items '*' 'd0v0 | *'
gui_graphs_up
gui_menu File Sessions 'Import Session'
gui_file "$session"
restored
gui_quit

# the last session, which KernelShark writes as it ends
virt_open "$file"
gui_click QToolButton Bookmarks
gui_same "bookmarks without a session" '' "$(marks)"
gui_click QToolButton vCPUs
gui_quit

# changed WHAT: the session as a user has changed it, by Python code about memo, a dict, or parts, the array
changed()
{
	python3 - "$session" "$GUI_DIR/changed.json" "$1" <<'END'
import json
import struct
import sys

MAGIC = 0x6b7368766d656d31
session = json.load(open(sys.argv[1]))
array = session["data streams"][0]["calib. array"]
assert array[-1] == MAGIC
n = array[-2]
words = (n + 7) // 8
head, packed = array[:-2 - words], struct.pack("<%dq" % words, *array[-2 - words:-2])[:n]
memo = json.loads(packed)
parts = None
exec(sys.argv[3])
if parts is None:
    text = memo if isinstance(memo, bytes) else json.dumps(memo).encode()
    padded = text.ljust(-(-len(text) // 8) * 8, b"\0")
    parts = head + list(struct.unpack("<%dq" % (len(padded) // 8), padded)) + [len(text), MAGIC]
session["data streams"][0]["calib. array"] = parts
json.dump(session, open(sys.argv[2], "w"))
END
}

# opened CODE: restored from what that has changed; KernelShark is as usual, with nothing of ours or some of it
opened()
{
	changed "$1"
	gui_run -s "$GUI_DIR/changed.json"
	gui_loaded "$file"
	gui_until virt_window
	gui_click QToolButton Bookmarks
}

opened 'memo.update(page="No such page", stream=7, vcpu=2147483647, scroll=2147483647,
	bookmarks=[{"from_ns": -4 * 10**18, "to_ns": 4 * 10**18, "note": "\u202e\x1b[31m"},
	{"from_ns": 4 * 10**18, "to_ns": 4 * 10**18}])'
gui_same "strange bookmarks" 2 "$(marks | wc -l)"
gui_click_found items '*' '-4000000000.0* | *'
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
gui_click_found items '*' '4000000000.0* | *'
gui_still
gui_shot strange
gui_quit
opened 'memo.update(version=2)'
gui_until gui_shows widgets QLabel "kshark-virt's part of this session is of another version; it is not restored"
gui_same "bookmarks of another version" '' "$(marks)"
gui_quit
opened 'memo["bookmarks"][0]["to_ns"] = -1'
gui_until gui_find widgets QLabel "*impossible \"bookmarks\"*" >/dev/null
gui_quit
opened 'parts = head + [1, 2, 10**18, MAGIC]'
gui_same "bookmarks of a damaged array" '' "$(marks)"
gui_quit
