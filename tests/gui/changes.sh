# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The file of an open trace is replaced, cut, continued or damaged: KernelShark keeps what it has in
# memory. The log and the dock say what has happened, and a click shows the new file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

# dock TEXT: a label of the dock says this
dock()
{
	gui_shows widgets QLabel "$1"
}

# logged N TEXT: N lines of the log have this text
logged()
{
	gui_same "lines with '$2'" "$1" "$(grep -cF -- "$2" "$GUI_LOG")"
}

# scrolled: the texts of other rows are asked for
scrolled()
{
	gui_list 0 50 >"$GUI_DIR/before"
	gui_list 5000 5050 >>"$GUI_DIR/before"
	gui_alive
}

# rows_are FILE: as many as it has
rows_are()
{
	gui_is count "$(gui_rows "$1" | wc -l)"
}

# reloaded SAMPLE: by the dock's button; it is shown, and the warning is gone
reloaded()
{
	gui_until gui_enabled widgets QPushButton Reload
	gui_click QPushButton Reload
	gui_until rows_are "$1"
	gui_until gui_not dock 'since it was opened'
	gui_still
	gui_check_list "$1"
}

gui_init
# a number's place in a text, marks, and an entity
odd='%1<b>&lt;'
file=$GUI_DIR/$odd.xen
cp "$GUI_SAMPLES/hvm-exits.xen" "$file"
virt_open "$file"
gui_need gui_not dock "$odd.xen:"
size=$(stat -c %s "$file")

# another recording to the same path
cat "$GUI_SAMPLES/pinned.xen" >"$file"
scrolled
gui_until dock "$odd.xen: has changed since it was opened (was $size bytes"
scrolled
logged 1 'has changed since it was opened'
gui_need grep -qF 'has changed since it was opened' "$GUI_DIR/before"
rows_are "$GUI_SAMPLES/hvm-exits.xen"
gui_shot recorded-anew
reloaded "$GUI_SAMPLES/pinned.xen"

# cut to nothing, with both markers set where there will be no row
gui_click QTreeWidget '*'
xdotool key End
gui_click QPushButton 'Mark longest wait'
truncate -s 0 "$file"
scrolled
gui_until dock 'bytes, now 0)'
gui_click QPushButton Reload
gui_until gui_is count 1
gui_need grep -qF "$odd.xen: the file is empty" "$GUI_LOG"
gui_until dock 'bytes, now 0)'
gui_shot cut

# it is there again, but damaged
head -c 500001 "$GUI_SAMPLES/hvm-exits.xen" >"$file"
gui_click QPushButton Reload
gui_until dock "$odd.xen: damaged: truncated"
gui_until gui_not dock 'since it was opened'
gui_shot damaged

# and goes on
tail -c +500002 "$GUI_SAMPLES/hvm-exits.xen" >>"$file"
scrolled
gui_until dock "$odd.xen: has grown since it was opened (was 500001 bytes, now "
reloaded "$GUI_SAMPLES/hvm-exits.xen"
gui_need gui_not dock damaged

# names come with the next reload; neither they nor the file's act in a text with numbers or marks
printf '{ "domains": [ { "id": 1, "name": "%s" } ] }\n' "$odd" >"$file.meta.json"
cat "$GUI_SAMPLES/hvm-exits.xen" >"$file"
scrolled
gui_until dock 'since it was opened'
gui_need gui_is "markup $odd" ''
gui_click QPushButton Reload
gui_until gui_not dock 'since it was opened'
gui_until gui_find items '*' "d1:$odd*" >/dev/null
gui_click_found items '*' "d1:$odd*"
gui_until gui_find widgets QLabel '*<b>d1:%1&lt;b&gt;&amp;lt;</b>*' >/dev/null
gui_click QToolButton Worst
gui_until gui_find widgets QCheckBox 'Only d1:%1<b>&&lt;*' >/dev/null
gui_need gui_is "markup $odd" ''
gui_shot names
gui_quit
