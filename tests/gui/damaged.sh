# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A damaged file shows all that is good and says in place what is not; what is no trace is refused.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# refused FILE: an error is shown, and KernelShark goes on
refused()
{
	gui_run -p "$KSV_PLUGIN" "$1"
	gui_until gui_has windows QErrorMessage
	gui_need grep -qF "contains no data" "$GUI_LOG"
	gui_shot "refused-$(basename "$1")"
	gui_until gui_enabled widgets QPushButton '&OK'
	gui_close '&OK'
	gui_menu File 'Open Trace File'
	gui_file "$GUI_SAMPLES/hvm-exits.xen"
	gui_loaded "$GUI_SAMPLES/hvm-exits.xen"
	gui_check_list "$GUI_SAMPLES/hvm-exits.xen"
	gui_quit
}

gui_init
for name in hvm-exits pinned; do
	file=$GUI_DIR/$name-damaged.xen
	cp "$GUI_SAMPLES/$name.xen" "$file"
	# 3,000 bytes overwritten somewhere in the middle, and the end cut off inside a record
	printf '%3000s' 'not a trace' | dd of="$file" bs=1 seek=300001 conv=notrunc status=none
	truncate -s -7 "$file"
	gui_open "$file"
	problems=$(gui_list 0 "$(gui_ask count)" | grep -c $'\tdamaged_data\t')
	gui_need [ "$problems" -ge 1 ]
	gui_same rows $(($(gui_rows "$file" | wc -l) + problems)) "$(gui_ask count)"
	gui_list 0 "$(gui_ask count)" | grep -v $'\tdamaged_data\t' | cut -f 1,2,5- >"$GUI_DIR/shown"
	gui_rows "$file" | cut -f 1,2,5- >"$GUI_DIR/wanted"
	gui_need cmp "$GUI_DIR/wanted" "$GUI_DIR/shown"
	gui_list 0 "$(gui_ask count)" | cut -f2 | sort -c -n
	gui_need grep -qi damage "$GUI_LOG"

	# to the place
	gui_combo '#' Event
	gui_click QLineEdit '*'
	xdotool type --delay 1 damaged_data
	gui_until gui_find widgets QLineEdit damaged_data >/dev/null
	xdotool key Return
	gui_until gui_has selected xentrace/damaged_data
	gui_need gui_has selected offset
	gui_shot "$name"
	gui_quit
done

head -c 5000 /dev/zero >"$GUI_DIR/zero.xen"
refused "$GUI_DIR/zero.xen"
