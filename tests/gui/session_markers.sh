# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sessions keep what a user has done in the dock: graphs that it brought and pinned, markers, which KernelShark
# sets before it has drawn anything, combos, overlays, columns, parts, the list of the worst. Restored
# from the command line, by "Import Session" and by "Restore Last Session"; of one file, of a KVM pair
# with its combos, of three files. KernelShark also sets the markers again when it appends a file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# both_marked: the markers A and B are set
both_marked()
{
	[ "$(virt_markers | grep -c '[0-9]')" = 2 ]
}

# arrange VCPU FILE...: do something in each part of the dock
arrange()
{
	gui_click_found items '*' "$1 | *"
	gui_still
	[ "$combos" = 0 ] || fewer_combos
	# graphs beside each other
	lanes
	virt_click_lane 1
	gui_click QPushButton Pin
	gui_until gui_find widgets QLabel 'Graphs pinned: *' >/dev/null
	[ "$1" != d1v1 ] || gui_combo "$(gui_combo_at 1)" 'worst first'
	gui_menu View Lanes
	# the list, of all, in order of time
	gui_click QToolButton Worst
	# of the vCPU whose lane was clicked
	gui_until gui_find widgets QCheckBox 'Only *' >/dev/null
	untick 'Only *v*'
	untick Exits
	# a list that comes later would forget the walk along this one
	gui_still
	gui_click QPushButton 'Next worst'
	gui_until both_marked
	# no walk along the list any more, nor what has been seen on it
	gui_click QPushButton 'Next worst'
	gui_until gui_find widgets QLabel '2 of *' >/dev/null
	gui_click QPushButton '- -'
	gui_still
	gui_click QToolButton vCPUs
	# lanes and moments have selected others
	gui_click_found items '*' "$1 | *"
	gui_until gui_find widgets QLabel "<b>$1</b>*" >/dev/null
	gui_still
	gui_click QToolButton Columns
	gui_choose States
	gui_click QCheckBox Migrations
	gui_menu View Clocks
	gui_click QPushButton 'Zoom to it'
	gui_still
	gui_split 800
}

# lanes: they come above the graphs
lanes()
{
	gui_menu View Lanes
	gui_until gui_find widgets QLabel '* vCPUs, * shown, 0 selected' >/dev/null
}

# untick TEXT: it may not be since the last session
untick()
{
	[[ $(gui_find widgets QCheckBox "$1") != *,checked ]] || gui_click QCheckBox "$1"
	gui_until unticked "$1"
}

unticked()
{
	[[ $(gui_find widgets QCheckBox "$1") == *\ on ]]
}

# fewer_combos: only the first one
fewer_combos()
{
	combo_dialog
	gui_toggle "*$combos*"
	combo_close Apply
}

# state: which parts of the dock are open and what is chosen there, the columns, the list of the worst, the
# figures from A to B; those of the window have a bin more or less
state()
{
	local page left top

	read -r left _ < <(gui_find widgets QDockWidget '*')
	read -r _ top _ < <(gui_find widgets QToolButton Events)
	for page in Worst vCPUs; do
		gui_click QToolButton "$page"
		gui_still
		# except the boxes that list one vCPU alone
		gui_ask widgets | awk -F '\t' -v left="$left" -v top="$top" '($3 >= left || $4 >= top) && $2 !~ /^Only|only$/ &&
			$1 ~ /^(QCheckBox|QToolButton|QComboBox|QSpinBox)$/ { print $1, $2, $7 }'
		[ "$page" = vCPUs ] || gui_ask items | cut -f1
	done
	gui_click QToolButton Columns
	gui_until gui_find actions QMenu States >/dev/null
	gui_ask actions | awk -F '\t' '$1 == "QMenu" { print $2, $7 }'
	xdotool key Escape
	gui_until gui_no_menu
	gui_click QToolButton 'A to B'
	gui_until gui_find widgets QToolButton Visible >/dev/null
	gui_still
	gui_ask window
	gui_ask items | cut -f1
	gui_click QToolButton Visible
	gui_until gui_find widgets QToolButton 'A to B' >/dev/null
}

# names_seen: of the graphs that are seen whole, in their order, as a sum; below them, a bar that had to be
# as high as its text may have left some pixels more
names_seen()
{
	local x y h pitch

	gui_graphs
	read -r x y _ h _ < <(gui_find widgets KsGLWidget '*')
	pitch=$((GUI_HEIGHT + 20))
	gui_pixels "$x" "$y" $((GUI_X0 - x - 8)) $((50 + (h - 50) / pitch * pitch)) | md5sum
}

# label N: of the Nth graph, as a sum
label()
{
	local x

	gui_graphs
	read -r x _ < <(gui_find widgets KsGLWidget '*')
	gui_pixels "$x" $(($(gui_base "$1") - GUI_HEIGHT)) $((GUI_X0 - x - 8)) $((GUI_HEIGHT + 10)) | md5sum
}

# pinned PLAIN: below PLAIN graphs of CPUs is what was pinned, wherever others come now; the overview is
# in the order that was chosen
pinned()
{
	local kept next

	gui_graphs_up
	gui_shot pinned-before
	kept=$(label "$1") next=$(label $(($1 + 1)))
	lanes
	gui_same 'order of the overview' 'worst first' "$(gui_combo_at 1)"
	# one that is not there yet
	virt_click_lane 3
	gui_graphs_up
	gui_shot pinned
	gui_same 'graph that is pinned' "$kept" "$(label "$1")"
	gui_need [ "$next" != "$(label $(($1 + 1)))" ]
	gui_menu View Lanes
	gui_until virt_window
}

# restored NAME FROM TO MARKERS NAMES: they are as they were, and so is what the dock shows
restored()
{
	gui_until both_marked
	gui_same 'threads that made graphs' 1 "$(gui_ask threads)"
	gui_until virt_same_window "$2" "$3"
	gui_same "markers of $1" "$4" "$(virt_markers)"
	gui_graphs_up
	gui_shot "$1"
	# those of three files do not fit, and KernelShark 2.4 scrolls them by half a graph
	[[ $1 == three-* && $(ldd "$(command -v kernelshark)") == *libQt6Widgets* ]] ||
		gui_same "names of the graphs of $1" "$5" "$(names_seen)"
	# an import does not change the dock; its state is read from the same place
	[[ $1 != *-argument && $1 != xen-last ]] || state >"$GUI_DIR/state"
	diff "$GUI_DIR/kept" "$GUI_DIR/state" >&2 || gui_fail "$1: the dock is not as it was"
	gui_graphs
	gui_until virt_window
	check
}

# restore_all NAME VCPU FILE...: with much done in the dock, and the VCPU's longest wait marked and seen
# large, save the session and restore it in each way; check looks at the graphs
restore_all()
{
	local name=$1 vcpu=$2 session=$GUI_DIR/$1.json kept
	shift 2

	arrange "$vcpu"
	gui_until both_marked
	state >"$GUI_DIR/kept"
	gui_graphs_up
	gui_shot "$name-before"
	virt_window
	kept=("$VIRT_FROM" "$VIRT_TO" "$(virt_markers)" "$(names_seen)")
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
	gui_until gui_not virt_same_window "${kept[@]:0:2}"
	gui_menu File Sessions 'Import Session'
	gui_file "$session"
	restored "$name-import" "${kept[@]}"
	gui_quit

	GUI_PROGRAM=(kernelshark)
	gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT" "$1"
	gui_loaded "$1"
	gui_menu File Sessions 'Restore Last Session'
	restored "$name-last" "${kept[@]}"
	[ "$name" != xen ] || pinned 4
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
	virt_page Events
	read -r _ x y w h < <(gui_ask shown | sed -n 1p)
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
# small ones, as each is loaded many times
xen=$GUI_SAMPLES/hvm-exits.xen host=$GUI_SAMPLES/kvm-host.dat
guest=$GUI_SAMPLES/kvm-guest.dat

# guest time is drawn; the markers' lines cross it
check()
{
	virt_strip 1
	gui_need [ "$(gui_count_colour "$GREEN" "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H")" -gt 500 ]
}
combo_view "$xen"
combos=0
restore_all xen d1v1 "$xen"
combo_view "$xen" "$host" "$guest"
combos=g1v1
restore_all three d1v1 "$xen" "$host" "$guest"

check()
{
	# those of CPUs, and three that were brought
	COMBO_PLAIN=9
	gui_need [ "$(combo_colour 0 "$GREEN")" -gt 500 ]
}
combo_view "$host" "$guest"
restore_all pair g1v0 "$host" "$guest"
