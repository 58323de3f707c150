# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sessions with markers, which KernelShark sets anew before it has drawn anything: restored from the
# command line, by "Import Session" and by "Restore Last Session"; of one file, of a KVM pair with
# its combos, of three files. When a file is appended, it does so, too.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# both_marked: the markers A and B are set
both_marked()
{
	[ "$(virt_markers | grep -c '[0-9]')" = 2 ]
}

# same_window FROM TO: but for the bins, whose number depends on the width
same_window()
{
	virt_window && [ $(((VIRT_FROM - $1) * 100 / ($2 - $1))) = 0 ] &&
		[ $(((VIRT_TO - $2) * 100 / ($2 - $1))) = 0 ]
}

# restored NAME FROM TO MARKERS: they are as they were, and so is what the graphs show
restored()
{
	gui_until both_marked
	gui_same 'threads that made graphs' 1 "$(gui_ask threads)"
	gui_until same_window "$2" "$3"
	gui_same "markers of $1" "$4" "$(virt_markers)"
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	check
}

# restore_all NAME VCPU FILE...: with the VCPU's longest wait marked and seen large, save the session
# and restore it in each way; check looks at the graphs
restore_all()
{
	local name=$1 vcpu=$2 session=$GUI_DIR/$1.json kept
	shift 2

	gui_click_found items '*' "$vcpu | *"
	gui_still
	gui_split 920
	gui_click QPushButton 'Zoom to it'
	gui_until both_marked
	gui_still
	virt_window
	kept=("$VIRT_FROM" "$VIRT_TO" "$(virt_markers)")
	[ "$name" != xen ] || XEN_MARKERS=${kept[2]}
	gui_menu File Sessions 'Export Session'
	gui_file "$session"
	gui_until test -s "$session"
	gui_until gui_main_active
	gui_quit

	gui_run -s "$session"
	gui_loaded "$@"
	restored "$name-argument" "${kept[@]}"

	gui_click QPushButton '- -'
	gui_until gui_not same_window "${kept[@]:0:2}"
	gui_menu File Sessions 'Import Session'
	gui_file "$session"
	restored "$name-import" "${kept[@]}"
	gui_quit

	GUI_PROGRAM=(kernelshark)
	gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT" "$1"
	gui_loaded "$1"
	gui_menu File Sessions 'Restore Last Session'
	restored "$name-last" "${kept[@]}"
	[ "$name" != xen ] || appended "$1" "${kept[2]}"
	[ "$name" != three ] || smaller
	gui_quit
}

# smaller: a session of fewer rows than there are before a marker. KernelShark draws that marker once
# more among the new rows, before it sets those of the session
smaller()
{
	local x y w h before

	before=$(virt_markers)
	read -r _ x y w h < <(gui_ask shown | head -n 1)
	gui_click_at $((x + w / 2)) $((y + h / 2))
	xdotool key ctrl+End
	# whole, the last but one
	gui_until gui_has shown $'\n'"$(($(gui_ask count) - 2))"$'\t'
	# the list has been scrolled sideways as well
	read -r _ _ y _ h < <(gui_ask shown | tail -n 1)
	gui_click_at $((x + 150)) $((y + h / 2))
	gui_until markers_not "$before"
	gui_menu File Sessions 'Import Session'
	gui_file "$GUI_DIR/xen.json"
	gui_until gui_is count "$(gui_rows "$xen" | wc -l)"
	gui_still
	gui_same 'markers of a smaller session' "$XEN_MARKERS" "$(virt_markers)"
}

# markers_not TEXT
markers_not()
{
	[ "$(virt_markers)" != "$1" ]
}

# appended FILE MARKERS: a copy of FILE. KernelShark sets the markers anew, by graphs that it must have
# drawn until then: until then, they are numbers of rows, some of which are the copy's now, and in sight
appended()
{
	local rows

	rows=$(gui_ask count)
	cp "$1" "$GUI_DIR/copy-${1##*/}"
	gui_click QPushButton '- -'
	gui_still
	gui_menu File 'Append Trace File'
	gui_file "$GUI_DIR/copy-${1##*/}"
	gui_loaded "$GUI_DIR/copy-${1##*/}"
	gui_need gui_is count $((2 * rows))
	gui_same "markers after $1 was appended" "$2" "$(virt_markers)"
}

GREEN='#009e73'

gui_init
xen=$GUI_SAMPLES/pinned.xen host=$GUI_SAMPLES/kvm-migration.dat
guest=$GUI_SAMPLES/kvm-migration-g1.dat

# guest time is drawn; the markers' lines cross it
check()
{
	virt_strip 1
	gui_need [ "$(gui_count_colour "$GREEN" "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H")" -gt 500 ]
}
combo_view "$xen"
restore_all xen d1v1 "$xen"
combo_view "$xen" "$host" "$guest"
restore_all three d1v1 "$xen" "$host" "$guest"

check()
{
	COMBO_PLAIN=6
	gui_need [ "$(combo_colour 0 "$GREEN")" -gt 500 ]
	gui_need [ "$(combo_colour 1 "$GREEN")" -gt 500 ]
}
combo_view "$host" "$guest"
restore_all pair g1v0 "$host" "$guest"
