# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Xen below, dom0's own ftrace above: pairs found without a click, bridges pixel by pixel, near, far
# and where there is no event; the dialog, its choices kept for the next start; sessions.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# check NAME FIRST SECOND: photograph; the bridges of both combos
check()
{
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	combo_check 0 "$host" "$2"
	combo_check 1 "$host" "$3"
}

# ticked: the vCPUs that are, in the dialog
ticked()
{
	gui_ask items | awk -F '\t' '$6 ~ /checked/ { sub(/ .*/, "", $1); printf "%s ", $1 }'
}

# graph_colours N: in the row of the Nth graph's middle
graph_colours()
{
	gui_pixels "$GUI_X0" $(($(gui_base "$1") - GUI_HEIGHT / 3)) $((GUI_X1 - GUI_X0)) 1 | sort -u
}

gui_init

# Xen alone: no combo is seen, none is ticked. One whose graph is seen already is not seen twice.
file=$GUI_SAMPLES/credit2-basic.xen
combo_view "$file"
combo_dialog
gui_same "ticked at first" "" "$(ticked)"
combo_close Cancel
gui_click_found items '*' 'd1v0 | *'
gui_split 900
gui_shot clicked
gui_graphs
gui_need [ "$(graph_colours 4 | wc -l)" -gt 1 ]
combo_dialog
gui_same "ticked beside a vCPU's graph" "" "$(ticked)"
gui_toggle 'd1v0 | *'
combo_close Apply
gui_still
gui_shot combo-alone
gui_graphs
gui_need [ "$(graph_colours 4 | wc -l)" -gt 1 ]
gui_same "colours below the combo" 1 "$(graph_colours 5 | wc -l)"
combo_dialog
gui_same "ticked after that" "d1v0 " "$(ticked)"
combo_close Cancel
gui_quit

host=$GUI_SAMPLES/dom0.xen guest=$GUI_SAMPLES/dom0-ftrace.dat
# Both count the host's TSC: let both show it as it is.
export XEN_CPUHZ=1000000000 XEN_ABSTS=1

combo_view "$host" "$guest"
gui_need gui_find actions QMenuBar Plots
combo_split 6 2
check whole 10000 10001
gui_need [ "$(combo_colour 0 '#009e73')" -gt 1000 ]
combo_zoom 300 500
check part 10000 10001
while [ "$(combo_events "$host")" -gt 0 ]; do
	gui_graphs
	combo_zoom 450 490
done
# Nothing happened in this window; the model knows all the same.
check near 10000 10001

# the dialog: all is there; those that are seen are ticked, and paired with the right CPUs
gui_graphs
faded=$(combo_guest_picture 0)
combo_dialog
gui_shot dialog
gui_same "thread of d0v0" d0v0-10000 "$(combo_item d0v0 2)"
gui_same "how d0v0 was paired" "a guess" "$(combo_item d0v0 5)"
gui_same "choice of d0v0" "dom0-ftrace.dat: CPU 0" "$(combo_choice 2)"
gui_same "choice of d0v1" "dom0-ftrace.dat: CPU 1" "$(combo_choice 3)"
gui_same "choice of d1v0" none "$(combo_choice 5)"
gui_same "ticked combos" "d0 d0v0 d0v1 " "$(ticked)"

# two vCPUs cannot be one CPU
combo_choose 2 "dom0-ftrace.dat: CPU 1"
gui_click QPushButton Apply
gui_until gui_find widgets QLabel '*is chosen for both d0v0 and d0v1*' >/dev/null
combo_choose 3 "dom0-ftrace.dat: CPU 0"
gui_shot crossed
combo_close Apply
gui_until virt_window
gui_shot applied
gui_graphs
combo_check 0 "$host" 10000
combo_check 1 "$host" 10001
gui_need [ "$faded" != "$(combo_guest_picture 0)" ]

# what was chosen is still chosen, in this KernelShark and in the next one
combo_dialog
gui_same "how d0v0 is paired" "your choice" "$(combo_item d0v0 5)"
gui_need gui_not gui_checked 'd1v0 | *'
xdotool key Escape
gui_until gui_main_active
session=$GUI_DIR/session.json
gui_menu File Sessions 'Export Session'
gui_file "$session"
gui_until test -s "$session"
gui_until gui_main_active
gui_quit

combo_view "$guest" "$host"
combo_dialog
gui_same "d0v0 at the next start, files in another order" "your choice" "$(combo_item d0v0 5)"
gui_same "choice at the next start" "dom0-ftrace.dat: CPU 1" "$(combo_choice 2)"
gui_click QPushButton 'Forget choices'
gui_until combo_shows 2 "dom0-ftrace.dat: CPU 0"
gui_same "d0v0 without choices" "a guess" "$(combo_item d0v0 5)"
combo_close Cancel
combo_split 6 2
check forgotten 10000 10001
gui_quit

# a session has its own combos
gui_run -s "$session"
gui_loaded "$host" "$guest"
# with the room that the graphs had
gui_until combo_room 2
check session 10000 10001
gui_quit

# and none if they are not wanted
rm "$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view --no-combos "$host" "$guest"
COMBO_PLAIN=6
gui_split 920
gui_still
gui_shot none
gui_graphs
gui_same "guest pixels where combos would be" 0 "$(combo_colour 0 '#009e73')"
combo_dialog
combo_choose 2 none
combo_choose 3 none
combo_close Apply
gui_quit

# whose clock is shown: the guest's, as soon as it is known to be one
combo_view "$host" "$guest"
gui_until gui_find widgets QComboBox '0: dom0.xen' >/dev/null
combo_dialog
combo_choose 2 'dom0-ftrace.dat: CPU 0'
combo_close Apply
gui_until gui_find widgets QComboBox '1: dom0-ftrace.dat' >/dev/null
# but not against the user's choice
clock_of '0: dom0.xen'
combo_dialog
combo_choose 3 'dom0-ftrace.dat: CPU 1'
combo_close Apply
gui_still
gui_need gui_find widgets QComboBox '0: dom0.xen' >/dev/null
gui_quit
