# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# With a guest's stream open, the pCPUs of its host show which of its tasks they execute: where they are
# pointed at, and on their strips; without it, they do not.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# all graphs at once
GUI_SCREEN=1640x1360 GUI_SIZE="1600 1300"
host=$GUI_SAMPLES/kvm-host.dat
guest=$GUI_SAMPLES/kvm-guest.dat
"$KSV_BIN" plot --quiet --tasks --format csv "$host" "$guest" >"$GUI_DIR/tasks"

# places N: pCPU, time and task of the N longest stretches in the window, no two of a task, that have
# eight columns at least and were executed for the most part
places()
{
	python3 - "$GUI_DIR/tasks" "$VIRT_FROM" "$VIRT_TO" $((GUI_X1 - GUI_X0)) "$1" <<'END'
import csv, sys
begin, end, width, n = map(int, sys.argv[2:])
best = {}
for row in csv.DictReader(open(sys.argv[1])):
    a, b = max(int(row["from_ns"]), begin), min(int(row["to_ns"]), end)
    most = int(row["executed_ns"]) > 0.7 * (int(row["to_ns"]) - int(row["from_ns"]))
    if row["task"] and most and b - a >= 8 * (end - begin) // width:
        best[row["task"]] = max(best.get(row["task"], (0,)), (b - a, int(row["pcpu"]), (a + b) // 2))
for task, (_, pcpu, time) in sorted(best.items(), key=lambda found: -found[1][0])[:n]:
    print(pcpu, time, task)
END
}

# point PCPU TIME: on its strip
point()
{
	# or this one and the last one might be taken for a drag
	virt_click_nothing
	gui_still
	virt_strip "$1"
	gui_double_click_at $((GUI_X0 + ($2 - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM))) \
		$((VIRT_Y + VIRT_H - 3))
}

# names PCPU: how large the ground below names is on its strip where guests are executed: darker than their colour
names()
{
	virt_strip "$1"
	gui_pixels "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H" | grep -cE '^#00(5[0-9a-f])(4[0-9a-f])$'
}

# look NAME LEAST: at places of at least LEAST tasks
look()
{
	local pcpu time task n=0

	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	while read -r pcpu time task; do
		point "$pcpu" "$time"
		gui_until gui_find widgets QLabel "*guest's task*$task*" >/dev/null
		n=$((n + 1))
	done < <(places 6)
	gui_need [ "$n" -ge "$2" ]
}

gui_init
printf '%s\n' '[overlays]' arrows=false migrations=false wakeups=false '[markers]' shown=false \
	>"$KS_USER_CACHE_DIR/kshark-virt.ini"
COMBO_PLAIN=6
combo_view "$host" "$guest"
gui_split 1100
look whole 1
# into what is one task on pCPU 1
read -r pcpu time task < <(places 1)
x=$((GUI_X0 + (time - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
virt_zoom $((x - 40)) $((x + 40))
look near 1
gui_shot near-named
named=$(names "$pcpu")
gui_need [ "$named" -gt 0 ]
gui_quit

# the host alone
COMBO_PLAIN=4
combo_view "$host"
gui_split 1100
gui_shot alone
gui_graphs
gui_until virt_window
point "$pcpu" "$time"
gui_until gui_find widgets QLabel '*runs guest code*' >/dev/null
gui_need gui_not gui_find widgets QLabel "*guest's task*" >/dev/null
x=$((GUI_X0 + (time - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
virt_zoom $((x - 40)) $((x + 40))
gui_shot alone-near
alone=$(names "$pcpu")
gui_need [ "$alone" -gt 0 ] && gui_need [ "$named" -gt $((alone * 2)) ]
gui_quit

# --- a guest in a guest: the innermost one's task, not the thread that is its CPU
nested=("$GUI_SAMPLES"/kvm-nested-linux.dat "$GUI_SAMPLES"/kvm-nested-linux-{g1,n1}.dat)
"$KSV_BIN" plot --quiet --tasks --format csv "${nested[@]}" | grep -E '^pcpu|,n1: ' | sed 's/,n1: /,/' >"$GUI_DIR/tasks"
combo_view "${nested[@]}"
gui_split 1100
gui_shot nested
gui_graphs
gui_until virt_window
read -r pcpu time task < <(places 1)
gui_need [ -n "$task" ]
x=$((GUI_X0 + (time - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
virt_zoom $((x - 20)) $((x + 20))
gui_shot nested-near
gui_graphs
gui_until virt_window
read -r pcpu time task < <(places 1)
point "$pcpu" "$time"
gui_until gui_find widgets QLabel "*guest's task*$task*" >/dev/null
gui_not gui_find widgets QLabel "*guest's task*KVM-135*" >/dev/null || gui_fail 'a thread instead of the task'
gui_quit
