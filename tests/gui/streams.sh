# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Several files at once: two xentrace files, one of them appended through the menu, and a xentrace
# file beside trace.dat files in both orders; the dialogs that only know trace.dat do no harm.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# check_stream ID FILE: the rows of one stream of the list are those of the file, in order
check_stream()
{
	grep "^$1	" "$GUI_DIR/all" | cut -f 3- | sed 's/^/-\t/' | gui_strip >"$GUI_DIR/shown"
	gui_rows "$2" >"$GUI_DIR/wanted"
	cmp "$GUI_DIR/wanted" "$GUI_DIR/shown" ||
		gui_fail "stream $1 is not $2: $(diff "$GUI_DIR/wanted" "$GUI_DIR/shown" | sed -n 1,6p)"
}

# read_all: the whole list, which must be in order of time
read_all()
{
	gui_ask "rows 0 $(gui_ask count)" | sed 's/^ *//' >"$GUI_DIR/all"
	cut -f 4 "$GUI_DIR/all" | sort -c -n || gui_fail "the list is not in order of time"
}

gui_init
one=$GUI_SAMPLES/hvm-exits.xen two=$GUI_SAMPLES/pinned.xen
host=$GUI_SAMPLES/kvm-host.dat guest=$GUI_SAMPLES/kvm-guest.dat

# two xentrace files, from the command line and through the menu
for how in arguments menu; do
	if [ "$how" = menu ]; then
		gui_open "$one"
		gui_menu File 'Append Trace File'
		gui_file "$two"
		gui_loaded "$one" "$two"
	else
		gui_open "$one" "$two"
	fi
	gui_until gui_is count $(($(gui_rows "$one" | wc -l) + $(gui_rows "$two" | wc -l)))
	read_all
	check_stream 0 "$one"
	check_stream 1 "$two"
	gui_shot "two-$how"
	gui_quit
done

# beside trace.dat files, in both orders
for order in first last; do
	if [ "$order" = first ]; then
		gui_open "$one" "$host" "$guest"
		stream=0
	else
		gui_open "$host" "$guest" "$one"
		stream=2
	fi
	read_all
	check_stream "$stream" "$one"
	gui_shot "trace-dat-$order"

	gui_menu Filter 'TEP Advance Filtering'
	gui_dialog KsAdvFilteringDialog
	gui_shot "advanced-$order"
	gui_close Cancel

	gui_menu Tools 'Manage Plotting plugins'
	gui_dialog 'Manage plugins'
	gui_close Cancel

	gui_menu Plots 'KVM Combo plots'
	gui_dialog 'KVM Combo'
	gui_shot "kvm-combo-$order"
	gui_close Cancel
	gui_quit
done
