# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A KVM host and its guest: paired by what trace-cmd recorded, in both orders of the files;
# bridges pixel by pixel, with and without filters, near, far and reopened; the host alone.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

GREEN='#009e73'
HATCH='#8c8c8c'

check()
{
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	combo_check 0 "$host" 3414
	combo_check 1 "$host" 3415
}

# bridges: both, as a sum
bridges()
{
	local k

	for k in 0 1; do
		combo_strip "$k"
		gui_pixels "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H"
	done | md5sum
}

# paired: vCPU, guest's CPU and source as the dialog shows them
paired()
{
	combo_dialog
	gui_shot "dialog-$1"
	gui_same "choice of vCPU 0" "kvm-guest.dat: CPU 0" "$(combo_choice 2)"
	gui_same "choice of vCPU 1" "kvm-guest.dat: CPU 1" "$(combo_choice 3)"
	gui_need gui_has items '3414 | '
	gui_need gui_has items '| the traces'
	combo_close Cancel
}

gui_init
host=$GUI_SAMPLES/kvm-host.dat guest=$GUI_SAMPLES/kvm-guest.dat

# the guest's file first, as the order does not matter
combo_view "$guest" "$host"
gui_until combo_note ''
combo_split 6 2
check whole
gui_need [ "$(combo_colour 0 "$GREEN")" -gt 500 ]
paired 1

# what filters hide is hidden in the list, not in the bridges
virt_page Events
gui_split 720
gui_shot unfiltered
gui_graphs
before=$(bridges) count=$(gui_ask count)
for row in $(gui_ask shown | cut -f1); do
	case $(gui_ask "rows $row 1" | cut -f7) in
	*/sched_switch | */kvm_exit | */kvm_entry) break ;;
	esac
done
gui_row_menu "$row"
gui_choose 'Hide event *'
gui_until gui_not gui_is count "$count"
gui_shot filtered
gui_same "bridges with a filter" "$before" "$(bridges)"

combo_zoom 300 420
check part
combo_zoom 300 420
combo_zoom 400 450
gui_graphs
combo_zoom 500 520
check near

# other files in the same window, and these again
gui_menu File 'Open Trace File'
gui_file "$guest"
gui_until gui_main_active
gui_still
gui_menu File 'Append Trace File'
gui_file "$host"
gui_loaded "$guest" "$host"
check again
gui_quit

# the host alone: its vCPU threads, in single rows
combo_view "$host"
gui_until combo_note ''
combo_split 4 1
gui_shot alone
gui_graphs
gui_until virt_window
singles()
{
	local k base

	for k in 0 1; do
		base=$((GUI_TOP + 50 + GUI_HEIGHT + (4 + k) * (GUI_HEIGHT + 20)))
		virt_strip 0
		VIRT_Y=$((base - GUI_HEIGHT)) VIRT_H=$((GUI_HEIGHT - GUI_HEIGHT / 2))
		virt_check_strip "single $k" "$host" combo $((3414 + k))
	done
}
singles
# so a click on a vCPU in the dock brings no other graph of it, above them, however often they were drawn
for row in 'g1v0 | *' 'g1v1 | *'; do
	gui_click_found items '*' "$row"
	gui_still
done
gui_shot clicked
singles
gui_quit

# A double click on an exit shows its reason and cost, and sets both markers around it.
combo_view "$host" "$guest"
combo_split 6 2

# The guest's trace ends before the host's. From there on nothing is known of its tasks, in combos as in
# graphs of CPUs: hatched, while in the middle nothing is.
hatched()
{
	gui_pixels "$1" $(($2 - GUI_HEIGHT * 7 / 10 + 1)) 60 $((GUI_HEIGHT * 7 / 10 - 3)) | sort -u |
		tr '\n' ' '
}
gui_shot beyond
gui_graphs
for base in "$(gui_base 4)" "$(combo_base 0 0)"; do
	gui_same "colours after the guest's last record" "$HATCH #ffffff " \
		"$(hatched $((GUI_X1 - 70)) "$base")"
	gui_need [ "$(gui_count_colour "$HATCH" $(((GUI_X0 + GUI_X1) / 2 - 100)) \
		$((base - GUI_HEIGHT / 2)) 100 $((GUI_HEIGHT / 2)))" = 0 ]
done

"$KSV_MODEL_CSV" "$host" >"$GUI_DIR/model"
# the longest time in the hypervisor
read -r from to < <(awk -F, '$1 == "vcpu" && $2 == 3414 && $5 == "hypervisor" && $4 - $3 > n {
	n = $4 - $3; from = $3; to = $4 } END { print from, to }' "$GUI_DIR/model")
while virt_window && [ $((VIRT_TO - VIRT_FROM)) -gt $((10 * (to - from))) ]; do
	gui_shot exit
	gui_graphs
	width=$((GUI_X1 - GUI_X0))
	x=$(((from + to - 2 * VIRT_FROM) * width / 2 / (VIRT_TO - VIRT_FROM)))
	half=$((x < 60 ? x : x > width - 60 ? width - x : 60))
	combo_zoom $((x - half)) $((x + half))
done
gui_shot exit
gui_graphs
combo_strip 0
x=$(((from + to - 2 * VIRT_FROM) * (GUI_X1 - GUI_X0) / 2 / (VIRT_TO - VIRT_FROM)))
gui_double_click_at $((GUI_X0 + x)) $((VIRT_Y + VIRT_H / 2))
gui_until gui_find widgets QLabel '*g1v0 is in the hypervisor on pCPU * for *, VM exit: *' >/dev/null
gui_shot described
mapfile -t marks < <(gui_ask widgets | awk -F '\t' '$1 == "KsMarkerButton" { on = 1; next }
	on && $1 == "QLabel" { gsub(/[ .]/, "", $2); print $2; on = 0 }')
gui_same "marker A" "$(((from + 500) / 1000))" "$((10#${marks[0]}))"
gui_same "marker B" "$(((to + 500) / 1000))" "$((10#${marks[1]}))"

# The guest's own graph says the same, in the combo and above all combos, where the mouse rests and on a
# double click, above its boxes and on them: the guest cannot know.
HYPERVISOR='g1v0 is in the hypervisor on pCPU '
mapfile -t kept < <(virt_markers)
for base in "$(combo_base 0 0)" "$(gui_base 4)"; do
	for y in $((base - GUI_HEIGHT + 3)) $((base - GUI_HEIGHT / 3)); do
		combo_strip 1
		gui_double_click_at $((GUI_X0 + x)) $((VIRT_Y + VIRT_H / 2))
		gui_until gui_not gui_find widgets QLabel "*$HYPERVISOR*" >/dev/null
		xdotool mousemove 10 10
		gui_until gui_not gui_has windows QTipLabel
		xdotool mousemove $((GUI_X0 + x)) "$y" mousemove_relative 1 1
		gui_until gui_has windows QTipLabel
		gui_shot "guest-$y"
		gui_need gui_has windows "$HYPERVISOR"
		gui_double_click_at $((GUI_X0 + x)) "$y"
		gui_until gui_find widgets QLabel "*$HYPERVISOR*, VM exit: *" >/dev/null
		mapfile -t marks < <(virt_markers)
		gui_same "markers of a guest's graph" "${kept[*]}" "${marks[*]}"
	done
done
gui_quit

# Names in the strips of combos: their letters are as low as these.
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[markers]' shown=false \
	>"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$host" "$guest"
combo_split 6 2
gui_shot whole-again
gui_graphs
gui_until virt_window
combo_zoom 300 420
combo_zoom 300 420
combo_zoom 400 450
gui_shot names-off
gui_graphs
# names_picture K on|off: of the photograph, the Kth combo
names_picture()
{
	combo_strip "$1"
	gui_pixels "$VIRT_X" $((VIRT_Y - GUI_HEIGHT)) "$VIRT_W" $((2 * GUI_HEIGHT)) \
		>"$GUI_DIR/names-$2-$1"
}
# label K ROW: the label of a combo's graph, as a sum
label()
{
	gui_pixels $((GUI_X0 - 150)) $(($(combo_base "$1" "$2") - GUI_HEIGHT + 1)) 140 \
		$((GUI_HEIGHT - 2)) | md5sum
}
# name K ROW: where the first line of a label is dark, as numbers of pixels
name()
{
	gui_pixels $((GUI_X0 - 150)) $(($(combo_base "$1" "$2") - GUI_HEIGHT + 5)) 140 12 |
		awk '/^#[0-4]/ { print NR }' | sort
}
# alike K ROW K ROW: two first lines are the same text, on grounds that may differ
alike()
{
	local one all both

	one=$(name "$1" "$2")
	all=$(wc -l <<<"$one")
	both=$(comm -12 <(echo "$one") <(name "$3" "$4") | wc -l)
	gui_need [ "$all" -gt 20 ]
	[ $((both * 10)) -ge $((all * 9)) ]
}
declare -A label_off
for k in 0 1; do
	names_picture "$k" off
	for row in 0 1; do
		label_off[$k,$row]=$(label "$k" "$row")
	done
done
# named K: rows, counted from the first one of combo_strip, that names change in the whole of a combo
named()
{
	paste "$GUI_DIR/names-off-$1" "$GUI_DIR/names-on-$1" |
		awk -v w="$VIRT_W" -v h="$GUI_HEIGHT" '
		$1 != $2 && !seen[y = int((NR - 1) / w) - h]++ { print y }'
}
gui_click QCheckBox Names
gui_shot names-on
# the labels of the rows, too: KernelShark's own without, machine and vCPU in a line above with them
for k in 0 1; do
	for row in 0 1; do
		gui_need [ "${label_off[$k,$row]}" != "$(label "$k" "$row")" ]
	done
	# both rows of a combo have the name of one vCPU in their first line
	gui_need alike "$k" 0 "$k" 1
done
gui_need gui_not alike 0 0 1 0
for k in 0 1; do
	names_picture "$k" on
	rows=$(named "$k")
	gui_need [ "$(wc -l <<<"$rows")" -ge 5 ]
	gui_need [ "$(head -n 1 <<<"$rows")" -ge 1 ]
	gui_need [ "$(tail -n 1 <<<"$rows")" -lt "$VIRT_H" ]
done
gui_quit
