# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Opening another file, and importing a session, while a file is loaded: menus, their shortcuts and keys do nothing,
# the window says so, and what is loaded is as if nothing had been pressed. Afterwards, both can be done.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

# is_refused: no window and no menu has come
is_refused()
{
	gui_still
	gui_need gui_not gui_has windows QFileDialog
	gui_need gui_not gui_find actions QMenu '*' >/dev/null
}

gui_init
one=$GUI_SAMPLES/hvm-exits.xen two=$GUI_SAMPLES/pinned.xen
virt_open "$one"
gui_menu File Sessions 'Export Session'
gui_file "$GUI_DIR/one.json"
gui_until test -s "$GUI_DIR/one.json"
gui_until gui_main_active
read -r x y w h _ < <(gui_find actions QMenuBar File)
menu="mousemove $((x + w / 2)) $((y + h / 2))"

touch "$GUI_DIR/hold_append"
gui_menu File 'Append Trace File'
gui_file "$two"
gui_until test -e "$GUI_DIR/held"
gui_until gui_has windows KsWidgetsLib::KsProgressBar
for press in "$menu click 1" "$menu click --repeat 2 --delay 0 1" "key ctrl+o" "key ctrl+i" "key alt+f" "key plus"; do
	# shellcheck disable=SC2086
	xdotool $press
	is_refused
done
gui_until gui_find widgets QStatusBar 'Not done: KernelShark loads a trace. *' >/dev/null
gui_shot loading
rm "$GUI_DIR/hold_append"
gui_loaded "$one" "$two"
gui_need gui_main_active
gui_need [ "$(gui_ask count)" = $(($(wc -l <"$(gui_csv "$one")") + $(wc -l <"$(gui_csv "$two")") - 2)) ]

# now they do what they say
gui_menu File Sessions 'Import Session'
gui_file "$GUI_DIR/one.json"
gui_check_list "$one"
gui_menu File 'Open Trace File'
gui_file "$two"
gui_check_list "$two"
gui_quit
