# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A guest that reports through hypercalls, without a trace of its own: its CPUs have graphs and are
# in combos, with lanes of what went on inside, column by column as it was reported.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# all graphs at once, at each size of letters
GUI_SCREEN=2040x1760 GUI_SIZE="2000 1700"
export XDG_CACHE_HOME=$GUI_DIR/cache

# lanes WHAT VCPU Y H [KIND]: of the last photograph, the rows from Y on are what VCPU reported
lanes()
{
	virt_strip 0
	gui_pixels "$VIRT_X" "$3" "$VIRT_W" "$4" >"$GUI_DIR/lanes"
	python3 "$KSV_SOURCE_DIR/tests/gui/guest_lanes.py" "$GUI_DIR/calls" "$2" "$VIRT_FROM" "$VIRT_TO" \
		"$VIRT_W" "$GUI_DIR/lanes" "${@:5}" || gui_fail "the lanes of $1 are wrong in $GUI_SHOT"
}

# look NAME: both graphs of the guest, and both of its graphs in combos
look()
{
	local cpu base

	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	for cpu in 0 1; do
		base=$(gui_base $((HOST_CPUS + cpu)))
		lanes "graph $cpu" "$cpu" $((base - GUI_HEIGHT - 8)) $((GUI_HEIGHT * 3 / 10 + 6))
		base=$(combo_base "$cpu" 0)
		# there is less room
		lanes "combo $cpu" "$cpu" $((base - GUI_HEIGHT)) $((GUI_HEIGHT * 3 / 10 - 2)) sys
	done
}

# show FROM_NS TO_NS: zoom there. By time, as columns of the graphs depend on the size of letters.
show()
{
	local ns=$((VIRT_TO - VIRT_FROM)) columns=$((GUI_X1 - GUI_X0))

	combo_zoom $((($1 - VIRT_FROM) * columns / ns)) $((($2 - VIRT_FROM) * columns / ns))
}

# seen COLOUR: pixels of it in all graphs of the last photograph
seen()
{
	local x y w h

	read -r x y w h _ < <(gui_find widgets KsGLWidget '*')
	gui_count_colour "$1" "$x" "$y" "$w" "$h"
}

SYSCALL='#332288'
host=$GUI_SAMPLES/hypertrace-plain.dat
"$KSV_BIN" dump --quiet --hypertrace --format csv "$host" >"$GUI_DIR/calls"

gui_init
# markers would lie on the lanes
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" '[markers]' shown=false \
	>"$KS_USER_CACHE_DIR/kshark-virt.ini"
COMBO_PLAIN=6
HOST_CPUS=4
combo_view "$host"
gui_until combo_note ''
# KernelShark's list has the records of both
records=$("$KSV_BIN" report --quiet --format json "$host" |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["volume"]["records"])')
gui_need [ "$(gui_ask count)" -ge $((records + $(wc -l <"$GUI_DIR/calls") - 1)) ]
gui_split 1500
look whole
gui_need [ "$(seen "$SYSCALL")" -gt 100 ]
# towards a system call: around it, and then some ms
read -r cpu time < <(python3 "$KSV_SOURCE_DIR/tests/gui/guest_lanes.py" busiest "$GUI_DIR/calls")
gui_need [ -n "$time" ]
show $((time - 600000000)) $((time + 600000000))
look part
show $((time - 12000000)) $((time + 12000000))
look near

# A double click shows what it is and how long it took.
x=$((GUI_X0 + (time - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
base=$(gui_base $((HOST_CPUS + cpu)))
y=$(gui_pixels "$x" $((base - GUI_HEIGHT - 8)) 1 $((GUI_HEIGHT * 3 / 10 + 6)) | grep -n "^$SYSCALL\$" |
	head -n 1 | cut -d: -f1)
gui_need [ -n "$y" ]
gui_double_click_at "$x" $((base - GUI_HEIGHT - 8 + y))
gui_until gui_find widgets QLabel '*system call*' >/dev/null

# Without them, all else stays.
gui_click QCheckBox Guests
gui_shot without
gui_same "pixels of system calls" 0 "$(seen "$SYSCALL")"
gui_click QCheckBox Guests
gui_shot again
gui_need [ "$(seen "$SYSCALL")" -gt 100 ]
gui_quit

# A host whose guests say nothing has no stream more than it had.
combo_view "$GUI_SAMPLES/kvm-hypercall.dat"
gui_shot strangers
gui_same "streams beside the host" 0 "$(grep -c '\.hypertrace"' "$GUI_LOG" || :)"
# Without sched_migrate_task, culprits are unknown: no number of theirs is 0.
stolen()
{
	virt_copy 'Steal as CSV'
	gui_same "$1" "$2 ns, others:" "$(python3 -c 'import csv, sys
row, = csv.DictReader(open(sys.argv[1]))
row.pop("stolen_from")
print(row.pop("stolen_ns"), "ns, others:" if row else "ns", *filter(None, row.values()))' "$GUI_DIR/copied")"
}
gui_click QToolButton Steal
preempted=$("$KSV_BIN" report --quiet --format json "$GUI_SAMPLES/kvm-hypercall.dat" | python3 -c 'import json, sys
print(sum(v["states"]["preempted"]["total_ns"] for v in json.load(sys.stdin)["machines"][0]["vcpus"]))')
gui_click QCheckBox 'By kind'
stolen "steal by unknown culprits" "$preempted"
gui_quit
