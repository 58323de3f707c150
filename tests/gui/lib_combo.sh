# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the tests of combos share. To be sourced after lib.sh and lib_virt.sh.

# combo_view ARGUMENT...: through "kshark-virt view", as a user does; of the overlays only the strips
combo_view()
{
	local file files=()

	[ -e "$KS_USER_CACHE_DIR/kshark-virt.ini" ] ||
		printf '%s\n' "${GUI_STRIPS_ONLY[@]}" \
			>"$KS_USER_CACHE_DIR/kshark-virt.ini"
	: >"$GUI_LOG"
	GUI_PROGRAM=("$KSV_BIN" view)
	gui_run "$@"
	for file; do
		[ ! -e "$file" ] || files+=("$file")
	done
	gui_loaded "${files[@]}"
	gui_until virt_window
}

# combo_split PLAIN COMBOS: give the graphs all the room; PLAIN of them are above all combos
combo_split()
{
	COMBO_PLAIN=$1
	gui_split 920
	gui_until combo_room "$2"
}

combo_room()
{
	local h graph

	read -r _ _ _ h _ < <(gui_find widgets KsGLWidget '*')
	graph=$((2 * $(gui_ask font)))
	[ "$h" -ge $((50 + COMBO_PLAIN * (graph + 20) + $1 * (2 * graph + 12))) ]
}

# combo_base K ROW: base line of a graph of the Kth combo with two graphs, both counted from 0
combo_base()
{
	echo $(($(gui_base "$COMBO_PLAIN") + $1 * (2 * GUI_HEIGHT + 20) + $2 * GUI_HEIGHT))
}

# combo_strip K: position of the bridge of the Kth combo: sets VIRT_X VIRT_Y VIRT_W VIRT_H
combo_strip()
{
	local base

	virt_strip 0
	base=$(combo_base "$1" 1)
	VIRT_Y=$((base - GUI_HEIGHT))
	VIRT_H=$((base - GUI_HEIGHT / 2 - VIRT_Y))
}

# combo_events FILE: its records within the window
combo_events()
{
	awk -F, -v from="$VIRT_FROM" -v to="$VIRT_TO" '$2 >= from && $2 < to { n++ }
		END { print n + 0 }' "$(gui_csv "$1")"
}

# combo_zoom X0 X1: into these columns of the graphs
combo_zoom()
{
	virt_zoom_at $((GUI_TOP + 60)) $((GUI_X0 + $1)) $((GUI_X0 + $2))
}

# combo_colour K COLOUR: pixels of it in the bridge of the Kth combo
combo_colour()
{
	combo_strip "$1"
	gui_count_colour "$2" "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H"
}

# combo_check K FILE PID: the bridge of the Kth combo shows what the model says, column by column
combo_check()
{
	combo_strip "$1"
	virt_check_strip "combo $1" "$2" combo "$3"
}

# combo_guest_picture K: the guest's graph of the Kth combo, as a sum
combo_guest_picture()
{
	local base

	base=$(combo_base "$1" 0)
	gui_pixels "$GUI_X0" $((base - GUI_HEIGHT * 7 / 10)) $((GUI_X1 - GUI_X0)) \
		$((GUI_HEIGHT * 7 / 10 - 2)) | md5sum
}

# combo_note TEXT: KernelShark's window shows what does not fit; "" if all fits
combo_note()
{
	local note

	note=$(gui_ask widgets | awk -F '\t' '$1 == "QStatusBar" { print $2 }')
	if [ -n "$1" ]; then
		[[ $note == *"$1"* ]]
	else
		[ -z "$note" ]
	fi
}

# combo_dialog: open it
combo_dialog()
{
	gui_menu Plots 'Virtual machine combos'
	gui_dialog 'Virtual machine combos'
}

# combo_item NAME COLUMN: text of a cell, counted from 1, of the dialog's line that begins so
combo_item()
{
	gui_ask items | grep -F "$1 |" | sed -n 1p | cut -f1 | awk -F ' \\| ?' -v c="$2" '{ print $c }'
}

# combo_choice N: what the Nth choice from the top shows, machines included, counted from 1
combo_choice()
{
	gui_combo_at "$1"
}

# combo_choose N TEXT: set it
combo_choose()
{
	local x y w h down=() line

	[ "$(combo_choice "$1")" != "$2" ] || return 0
	# a list that is still closing takes the click
	gui_still
	read -r x y w h < <(gui_ask widgets | awk -F '\t' '$1 == "QComboBox"' |
		sort -t $'\t' -n -k 4,4 | sed -n "$1p" | cut -f3-6)
	gui_click_at $((x + w / 2)) $((y + h / 2))
	gui_until gui_choice_line "$2" >/dev/null
	for ((line = $(gui_choice_line "$2"); line > 1; line--)); do
		down+=(Down)
	done
	xdotool key Home "${down[@]}" Return
	gui_until combo_shows "$1" "$2"
}

combo_shows()
{
	[ "$(combo_choice "$1")" = "$2" ]
}

# combo_close: end the dialog by a button
combo_close()
{
	gui_close "$1"
	gui_still
}

# offset: what the box shows
offset()
{
	gui_ask widgets | awk -F '\t' '$1 == "QAbstractSpinBox" { on = 1; next }
		on && $1 == "QLineEdit" { print $2; on = 0 }'
}

offset_is()
{
	[ "$(offset)" = "$1" ]
}

# clock_of STREAM: choose it
clock_of()
{
	gui_combo "$(gui_ask widgets | awk -F '\t' '$1 == "QComboBox" && $2 ~ /^[0-9]+: / {
		print $2 }')" "$1"
}

# click_offset: into the box
click_offset()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets QAbstractSpinBox '*')
	gui_click_at $((x + 20)) $((y + h / 2))
}

# type_offset NS
type_offset()
{
	click_offset
	xdotool key ctrl+a type --delay 1 -- "$1"
	xdotool key Return
	gui_until offset_is "$1"
}
