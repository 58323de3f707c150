# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The dock beside windows of all sizes: narrow beside a narrow one, with its parts closed and warnings
# first; down to 260 pixels; wide and open beside a wide one; what the user has opened and drawn wide
# is kept.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

GROUND='#fff3b0'
WARNING='kvm-ptp-g1.dat: Its clock is wrong: only *'

# dock_width: of the dock
dock_width()
{
	gui_ask widgets | awk -F '\t' '$1 == "QDockWidget" { print $5 }'
}

width_within()
{
	local width

	width=$(dock_width)
	[ -n "$width" ] && [ "$width" -ge "$1" ] && [ "$width" -le "$2" ]
}

# seen CLASS TEXT
seen()
{
	gui_find widgets "$1" "$2" >/dev/null
}

# rows_seen N: at least so many rows of the table of vCPUs, as a whole
rows_seen()
{
	local x y w h line

	read -r x y w h _ < <(gui_find widgets QTreeWidget '*') || return 1
	# below them is what scrolls it sideways
	line=$(gui_ask font)
	[ "$(gui_ask items | awk -F '\t' -v from="$y" -v to=$((y + h - line)) \
		'/^ *g1/ && $3 >= from && $3 + $5 <= to' | wc -l)" -ge "$1" ]
}

# scrolled_up: the dock is; all of its parts are in one column, and the table on top
scrolled_up()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets QToolButton Clocks) || return 1
	gui_clicks $((x + w / 2)) $((y + h / 2)) 9 4
	rows_seen 3
}

# scrolled_to PART: it is seen, if need be after the dock has been scrolled down
scrolled_to()
{
	local x y w h

	! seen QToolButton "$1" || return 0
	read -r x y w h _ < <(gui_find widgets QTreeWidget '*') || return 1
	gui_clicks $((x + w / 2)) $((y + h + 30)) 1 5
	seen QToolButton "$1"
}

# warned: all of the warning is seen, on its ground, above everything else of the dock
warned()
{
	local x y w h head line

	gui_shot "warned-${GUI_SIZE/ /x}"
	read -r x y w h _ < <(gui_find widgets QLabel "$WARNING")
	read -r _ head _ < <(gui_find widgets QLabel 'Visible: *')
	gui_need [ $((y + h)) -le "$head" ]
	gui_need [ "$(gui_count_colour "$GROUND" "$x" "$y" "$w" "$h")" -gt $((w * h / 2)) ]
	# its last line has words, and below them is nothing more
	line=$(gui_ask font)
	gui_need [ "$(gui_pixels "$x" $((y + h - line)) "$w" "$line" | sort -u | wc -l)" -gt 4 ]
	gui_need [ $(((h + line / 2) / line)) -ge "$1" ]
}

# drag_edge DX: of the dock, between it and the graphs
drag_edge()
{
	local x y h to

	read -r x y _ h _ < <(gui_find widgets QDockWidget '*')
	to=$((x - 3 + $1))
	gui_drag $((x - 3)) $((y + h / 2)) "$to" $((y + h / 2))
	gui_still
}

# hovered: KernelShark answers wherever the pointer is, however long the names are that it tells
hovered()
{
	local x y w h column

	read -r x y w h _ < <(gui_find widgets KsGLWidget '*')
	for ((column = w / 4; column < w - 20; column += w / 8)); do
		xdotool mousemove $((x + column)) $((y + h / 2)) \
			mousemove $((x + column)) $((y + h / 2 + 12))
		gui_need [ "$(gui_ask count)" -gt 0 ]
	done
}

GUI_SIZE='960 534'
gui_init
rm -f "$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$GUI_SAMPLES/kvm-ptp.dat" "$GUI_SAMPLES/kvm-ptp-g1.dat"
gui_until seen QLabel "$WARNING"
gui_until width_within 255 290
warned 3
read -r _ _ w _ < <(gui_find widgets KsGLWidget '*')
gui_need [ "$w" -gt 600 ]
for part in Clocks Colours Overlays 'Worst moments'; do
	gui_until scrolled_to "$part"
done
gui_until scrolled_up
gui_need gui_not seen QPushButton Align
gui_need gui_not seen QCheckBox Steal
gui_need seen QLabel '1 warning'

# a part that is open has no badge, and all that is in it can be used
gui_click QToolButton Clocks
gui_until seen QPushButton Align
gui_until gui_not seen QLabel '1 warning'
gui_click QPushButton Align
gui_until gui_not seen QLabel "$WARNING"
gui_until gui_enabled widgets QPushButton Undo
gui_click QPushButton Undo
gui_until seen QLabel "$WARNING"
gui_until scrolled_up

# as narrow as can be
drag_edge 200
gui_until width_within 200 262
for page in vCPUs Worst Histograms Steal Why Search; do
	gui_need seen QToolButton "$page"
done
warned 4
# by less than the room that KernelShark shortens without an end
for part in 1 2 3 4 5 6 7 8 9 10 11; do
	drag_edge -30
	hovered
done
drag_edge 400
gui_until width_within 200 262

# other windows; the part stays open, and the dock as narrow as the user has made it
gui_resize 1024 768
warned 4
gui_until rows_seen 3
gui_need seen QPushButton Align
gui_need gui_not seen QCheckBox Steal
gui_resize 1600 1000
warned 4
gui_until width_within 200 262
gui_until rows_seen 3
gui_until seen QLabel 'Offline'
gui_click QToolButton Clocks
gui_until gui_not seen QPushButton Align
gui_until seen QCheckBox 'CPU graphs'
drag_edge -120
gui_until width_within 335 375
gui_quit

# so it is at the next start; and without a choice, wide beside a wide window
GUI_SIZE='1600 1000'
combo_view "$GUI_SAMPLES/kvm-ptp.dat" "$GUI_SAMPLES/kvm-ptp-g1.dat"
gui_until width_within 335 375
gui_until seen QLabel '1 warning'
gui_until seen QCheckBox 'CPU graphs'
gui_quit
rm "$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$GUI_SAMPLES/kvm-ptp.dat" "$GUI_SAMPLES/kvm-ptp-g1.dat"
gui_until width_within 450 465
gui_until seen QLabel "$WARNING"
gui_until seen QPushButton Align
gui_until seen QCheckBox Steal
warned 2
gui_quit
