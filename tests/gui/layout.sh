# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What is where: lanes with the columns of the graphs, the map of the trace and the time axis above them, the
# graphs' share of the height, pages as wide as the window, details beside the graphs or a drawer in a small
# window, parts of the menu, warnings first. A click on a lane brings its rows. What the user chooses is kept.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

GROUND='#fff3b0'
WARNING='kvm-ptp-g1.dat: Its clock is wrong: only *'

# seen CLASS TEXT
seen()
{
	gui_find widgets "$1" "$2" >/dev/null
}

# details_width: nothing if they are closed
details_width()
{
	gui_ask widgets | awk -F '\t' '$1 == "QDockWidget" && $3 > 100 { print $5 }'
}

# details_within FROM TO: their width
details_within()
{
	local width

	width=$(details_width)
	[ -n "$width" ] && [ "$width" -ge "$1" ] && [ "$width" -le "$2" ]
}

# share_within FROM TO: of the height without menu and status bar that is above the splitter's handle, in %
share_within()
{
	local y h top share

	read -r _ top _ h _ < <(gui_find widgets QMenuBar '*')
	top=$((top + h))
	read -r _ y _ < <(gui_find widgets QSplitterHandle '*')
	read -r _ h _ < <(gui_find widgets QStatusBar '*')
	share=$(((y - top) * 100 / (h - top)))
	[ "$share" -ge "$1" ] && [ "$share" -le "$2" ]
}

# graphs_within FROM TO: the same of the graphs with their buttons
graphs_within()
{
	local h top end share graphs

	read -r _ top _ h _ < <(gui_find widgets QMenuBar '*')
	top=$((top + h))
	read -r _ end _ < <(gui_find widgets QStatusBar '*')
	read -r _ _ _ graphs _ < <(gui_find widgets KsTraceGraph '*')
	share=$((graphs * 100 / (end - top)))
	[ "$share" -ge "$1" ] && [ "$share" -le "$2" ]
}

# rows_seen N: at least N rows of the table of vCPUs, as a whole
rows_seen()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets QTreeWidget '*') || return 1
	[ "$(gui_ask items | awk -F '\t' -v from="$y" -v to=$((y + h)) \
		'/^ *g1/ && $3 >= from && $3 + $5 <= to' | wc -l)" -ge "$1" ]
}

# graphs_seen N: at least N pixels of their height
graphs_seen()
{
	local h

	read -r _ _ _ h _ < <(gui_find widgets KsGLWidget '*')
	[ "$h" -ge "$1" ]
}

# warned: all of the warning is seen, on its ground, above everything else
warned()
{
	local x y w h head line

	gui_shot "warned-${GUI_SIZE/ /x}"
	read -r x y w h _ < <(gui_find widgets QLabel "$WARNING")
	read -r _ head _ < <(gui_find widgets KsTraceGraph '*')
	gui_need [ $((y + h)) -le "$head" ]
	gui_need [ "$(gui_count_colour "$GROUND" "$x" "$y" "$w" "$h")" -gt $((w * h / 2)) ]
	# its last line has words, and below them is nothing more
	line=$(gui_ask font)
	gui_need [ "$(gui_pixels "$x" $((y + h - line)) "$w" "$line" | sort -u | wc -l)" -gt 4 ]
}

# wide: the pages are as wide as the window
wide()
{
	local w

	read -r _ _ w _ < <(gui_find widgets QTreeWidget '*')
	[ "$w" -gt $((${GUI_SIZE% *} - 20)) ]
}

# hovered: KernelShark answers wherever the pointer is, however long the names are that it shows
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

# drag_details DX: their edge, between them and the graphs
drag_details()
{
	local x y h

	read -r x y h < <(gui_ask widgets | awk -F '\t' '$1 == "QDockWidget" && $3 > 100 { print $3, $4, $6 }')
	gui_drag $((x - 3)) $((y + h / 2)) $((x - 3 + $1)) $((y + h / 2))
	gui_still
}

# drag_split Y: to this row of the screen
drag_split()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets QSplitterHandle '*')
	gui_drag $((x + w / 2)) $((y + h / 2)) $((x + w / 2)) "$1"
	gui_still
}

# ---- lanes, map and axis ----

# lane_as_model ROW PID: each of its columns has the states of that time in the model, at the graphs' scale
lane_as_model()
{
	local y

	read -r _ y < <(virt_lane "$1")
	VIRT_X=$((GUI_X0 - 4)) VIRT_W=$((GUI_X1 - GUI_X0 + 8))
	VIRT_H=$(($(gui_ask font) + 1 - 4))
	VIRT_Y=$((y - VIRT_H / 2))
	virt_check_strip "lane $1" "$file" vcpu "$2"
}

# axis: the times above the lanes
axis()
{
	gui_ask widgets | awk -F '\t' '$1 == "QLabel" && $2 ~ /^[0-9. ]+ s$/ { print $2; exit }'
}

# in_middle NS: the window has it there, to a 50th of its length
in_middle()
{
	local middle

	virt_window || return 1
	middle=$(((VIRT_FROM + VIRT_TO) / 2))
	[ $(((middle > $1 ? middle - $1 : $1 - middle) * 50)) -lt $((VIRT_TO - VIRT_FROM)) ]
}

GUI_SIZE='1600 1000'
gui_init
file=$GUI_SAMPLES/credit2-basic.xen
VIRT_SETTINGS=('[lanes]' visible=true '[sections]' clocks=false overlays=false markers=false
	'[markers]' shown=false)
virt_open "$file"
gui_until share_within 58 62
gui_until wide
gui_until details_within 290 310
gui_until gui_find widgets QLabel '6 vCPUs, 6 shown, 0 selected' >/dev/null
gui_shot lanes
gui_graphs
virt_window
# below each machine's own lane
lane_as_model 1 10000
lane_as_model 5 20001
whole=("$VIRT_FROM" "$VIRT_TO")
virt_click_nothing
xdotool key w
gui_until virt_window_not "${whole[@]}"
xdotool key w
gui_still
gui_shot lanes-zoomed
gui_graphs
virt_window
lane_as_model 4 20000
lane_as_model 5 20001
# from the first time that is seen to the last one
read -ra times < <(axis)
gui_need [ "${#times[@]}" -gt 3 ]
python3 -c 'import sys
times = [round(float(t) * 1e9) for t in sys.argv[3:-1]]
first, last = int(sys.argv[1]), int(sys.argv[2])
step = times[1] - times[0]
assert all(b - a == step for a, b in zip(times, times[1:])), times
assert first <= times[0] < first + step and last - step <= times[-1] < last, times' \
	"$VIRT_FROM" "$VIRT_TO" "${times[@]}"

# the map is of the whole trace: three quarters of it are there
read -r _ y < <(virt_lane 0)
y=$((y - $(gui_ask font) / 2 - $(gui_ask font) - 6 - 8))
gui_click_at $((GUI_X0 + (GUI_X1 - GUI_X0) * 3 / 4)) "$y"
gui_until in_middle $((whole[0] + (whole[1] - whole[0]) * 3 / 4))
gui_drag $((GUI_X0 + (GUI_X1 - GUI_X0) * 3 / 4)) "$y" $((GUI_X0 + (GUI_X1 - GUI_X0) / 2)) "$y"
gui_until in_middle $(((whole[0] + whole[1]) / 2))
gui_shot map

# All pages, one of them KernelShark's own list; the keys find what is on another one.
for page in vCPUs Worst Histograms Steal Why Search Events; do
	virt_page "$page"
done
gui_until gui_find widgets QLabel 'Search: Column' >/dev/null
gui_need [ -n "$(gui_ask shown)" ]
gui_need gui_not seen QTreeWidget '*'
virt_click_nothing
xdotool key slash
gui_until virt_on_page Search

# as it is alone
gui_menu View 'Virtual machines'
gui_until gui_not seen QDockWidget '*'
gui_need gui_not seen QToolButton vCPUs
gui_until gui_find widgets QLabel 'Search: Column' >/dev/null
gui_menu View 'Virtual machines'
gui_until seen QToolButton vCPUs
gui_until details_within 290 310

# who moves the splitter keeps it there
drag_split 450
gui_until share_within 35 50
gui_resize 1400 900
gui_until share_within 35 50

# the list's columns are as wide as KernelShark makes them
own_widths()
{
	[ "$(gui_ask widths)" = "$(gui_ask widths own)" ]
}
virt_page Events
gui_until gui_find widgets QLabel 'Search: Column' >/dev/null
for size in '1200 800' '1600 1000' '900 700' '1500 900'; do
	# shellcheck disable=SC2086
	gui_resize $size
	gui_until own_widths
done
gui_quit

# ---- a small window ----

GUI_SIZE='960 534'
: >"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$GUI_SAMPLES/kvm-ptp.dat" "$GUI_SAMPLES/kvm-ptp-g1.dat"
gui_until seen QLabel "$WARNING"
gui_need gui_not details_within 1 600
warned
gui_until rows_seen 1
gui_until graphs_seen 120
gui_until wide
gui_until gui_find widgets QLabel '2 vCPUs, 2 shown, 0 selected' >/dev/null
# without room for all of a line, its parts are left out as a whole
gui_need gui_not seen QLabel 'Visible: <b>*</b>, *'
gui_need seen QLabel '*<b>*s</b>'

# the drawer
gui_click QToolButton Details
gui_until details_within 255 310
gui_click QToolButton Details
gui_until gui_not details_within 1 600

# a part of the menu opens them; all that is in it can be used
gui_menu View 'Clocks (1 warning)'
gui_until seen QPushButton Align
gui_need gui_not seen QCheckBox Steal
gui_click QPushButton Align
gui_until gui_not seen QLabel "$WARNING"
gui_until gui_enabled widgets QPushButton Undo
gui_click QPushButton Undo
gui_until seen QLabel "$WARNING"

# by less than the room that KernelShark shortens without an end
for part in 1 2 3 4; do
	drag_details -30
	hovered
done
drag_details 400
gui_until details_within 200 262

# other windows; a low one hides what KernelShark says of the pointer
gui_resize 800 500
hovered
gui_resize 1024 768
hovered
warned
gui_until rows_seen 3
gui_need seen QPushButton Align
gui_resize 1600 1000
gui_until seen QLabel 'Visible: <b>*</b>, * to * s'
gui_until seen QLabel '<i>Nothing selected</i>'
warned
# the warning takes a part
gui_until graphs_within 53 62
gui_until details_within 200 262
gui_until rows_seen 3
gui_menu View Clocks*
gui_until gui_not seen QPushButton Align
gui_menu View Overlays
gui_until seen QCheckBox 'CPU graphs'
# they begin at the least width of what is in them, which depends on Qt
width=$(details_width)
drag_details -120
gui_until details_within $((width + 110)) $((width + 130))
width=$(details_width)
gui_quit

# the next start keeps all of this
GUI_SIZE='1600 1000'
combo_view "$GUI_SAMPLES/kvm-ptp.dat" "$GUI_SAMPLES/kvm-ptp-g1.dat"
gui_until details_within "$width" "$width"
gui_until seen QCheckBox 'CPU graphs'
gui_need gui_not seen QPushButton Align
gui_quit

# a user who wants none of it has KernelShark's own window
printf '%s\n' '[dock]' visible=false >"$KS_USER_CACHE_DIR/kshark-virt.ini"
GUI_PROGRAM=(kernelshark)
gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT" "$GUI_SAMPLES/credit2-basic.xen"
gui_loaded "$GUI_SAMPLES/credit2-basic.xen"
gui_need gui_not seen QDockWidget '*'
gui_need gui_not seen QToolButton vCPUs
gui_until gui_find widgets QLabel 'Search: Column' >/dev/null
gui_quit

# ---- the rows of a lane: pCPU, vCPU, culprit, and the guest's CPU, from the top ----

# graph_rows N: N are below each other
graph_rows()
{
	gui_is graphs $((50 + $1 * (2 * $(gui_ask font) + 20)))
}

GUI_SIZE='1600 1000'
file=$GUI_SAMPLES/kvm-host.dat
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[lanes]' visible=true >"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$file" "$GUI_SAMPLES/kvm-guest.dat"
# neither combos nor CPUs of the guest
combo_dialog
gui_toggle 'g1 (kvm-host.dat)*'
combo_close Apply
gui_menu Plots CPUs
gui_dialog CPUs
read -r x y < <(gui_ask widgets | awk -F '\t' '$1 == "QCheckBox" && $2 == "all" && n++ { print $3 + 8, $4 + $6 / 2 }')
gui_click_at "$x" "$y"
gui_apply
gui_until graph_rows 4
virt_click_lane 1
gui_until graph_rows 7
# the lanes give room for them
gui_split 850
gui_until graphs_seen $((50 + 7 * (2 * $(gui_ask font) + 20)))
gui_graphs_up
gui_shot rows
gui_graphs
gui_until virt_window
virt_check 4 "$file" vcpu 3414
# the other one's rows instead of these
virt_click_lane 2
gui_until graph_rows 7
gui_graphs_up
gui_shot rows-other
gui_graphs
gui_until virt_window
virt_check 4 "$file" vcpu 3415
gui_quit

# graphs that fit need no bar to scroll them
GUI_SIZE='1600 1000'
: >"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$GUI_SAMPLES/credit2-basic.xen"
all_graphs_fit()
{
	local h

	read -r _ _ _ h _ < <(gui_find widgets KsGLWidget '*')
	[ "$h" = "$(gui_ask graphs)" ]
}
gui_until all_graphs_fit
gui_quit
