# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A machine that was saved, and goes on in another process: one machine in the dock, its vCPUs' bridges as the model
# has them before, during and after the pause, near and far, its own trace aligned on both sides.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

OFFLINE='#a0a4a8'

check()
{
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	combo_check 0 "$host" 175
	combo_check 1 "$host" 176
}

# guest_pixels K X0 X1: pixels of the guest's own graph of the Kth combo, between these columns, that are not white
guest_pixels()
{
	local base

	base=$(combo_base "$1" 0)
	gui_pixels $((GUI_X0 + $2)) $((base - GUI_HEIGHT * 7 / 10)) $(($3 - $2)) $((GUI_HEIGHT * 7 / 10 - 2)) |
		grep -vc '#ffffff'
}

gui_init
host=$GUI_SAMPLES/kvm-restored.dat guest=$GUI_SAMPLES/kvm-restored-web.dat
combo_view "$host" "$guest"
gui_until combo_note ''
combo_split 6 2
check whole
# in ns, not in cycles of the TSC, as the host's sidecar has its frequency
read -r from to < <("$KSV_BIN" report --quiet --format json "$host" |
	python3 -c 'import json, sys; print(*json.load(sys.stdin)["window_ns"])')
gui_same "ms of the first record" $((from / 1000000)) $((VIRT_FROM / 1000000))
gui_same "ms of the last record" $((to / 1000000)) $((VIRT_TO / 1000000))
gui_same "machines in the dock" 1 "$(gui_ask items | cut -f1 | grep -c '^g[0-9]*:web |')"
gui_need gui_find widgets QLabel '*Aligned with kvm-restored.dat by kvm_write_tsc_offset*from guest time*' >/dev/null
gui_need gui_find widgets QLabel '*All *' >/dev/null
# a third of the window it was saved
for k in 0 1; do
	combo_strip "$k"
	gui_need [ "$(combo_colour "$k" "$OFFLINE")" -gt $((VIRT_W * VIRT_H / 5)) ]
done
# its tasks are drawn on both sides
width=$((GUI_X1 - GUI_X0))
for k in 0 1; do
	gui_need [ "$(guest_pixels "$k" 0 $((width / 8)))" -gt 100 ]
	gui_need [ "$(guest_pixels "$k" $((width * 15 / 16)) "$width")" -gt 100 ]
done

# from when it goes on
"$KSV_MODEL_CSV" "$host" >"$GUI_DIR/model"
goes_on=$(awk -F, '$1 == "vcpu" && $2 == 175 && $5 == "offline" && $4 - $3 > n { n = $4 - $3; to = $4 } END { print to }' \
	"$GUI_DIR/model")
while virt_window && [ $((VIRT_TO - VIRT_FROM)) -gt 20000000 ]; do
	x=$(((goes_on - VIRT_FROM) * width / (VIRT_TO - VIRT_FROM)))
	combo_zoom $((x < 60 ? 0 : x - 60)) $((x > width - 60 ? width : x + 60))
	check near
done
combo_strip 0
gui_need [ "$(combo_colour 0 "$OFFLINE")" -gt 100 ]
gui_quit
