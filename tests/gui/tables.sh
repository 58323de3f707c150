# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The page Tables shows what "kshark-virt report" prints of the window, cell by cell; another window or table ends the
# command that reads; what it cannot read is said.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

gui_init
file="$GUI_DIR/it's \$(memory) <&>.dat"
cp "$GUI_SAMPLES/kvm-memory.dat" "$file"

# counted: the table is there
counted()
{
	gui_find widgets QLabel '* row*' >/dev/null
}

# reads: a command reads for the page
reads()
{
	pgrep -P "$GUI_SHARK" >/dev/null
}

# listed OPTION: the page shows what report prints with it of this window, and so is what is copied
listed()
{
	gui_until counted
	gui_until virt_window
	virt_copy 'Table as CSV'
	"$KSV_BIN" report --quiet --format csv --from "${VIRT_FROM}ns" --to "${VIRT_TO}ns" "$1" "$file" >"$GUI_DIR/printed"
	diff "$GUI_DIR/printed" "$GUI_DIR/copied" >&2 || gui_fail "not what report $1 prints"
	gui_ask items >"$GUI_DIR/items"
	gui_need python3 "$KSV_SOURCE_DIR/tests/gui/tables.py" "$GUI_DIR/printed" "$GUI_DIR/items"
	virt_copy 'Report command'
	gui_need grep -qF -- " $1 --from" "$GUI_DIR/copied"
	bash -n "$GUI_DIR/copied" || gui_fail "no command: $(cat "$GUI_DIR/copied")"
}

# brings PID: its graph is there
brings()
{
	virt_copy 'View command'
	grep -qE "task([0-9]+,)*$1\b|,task$1\b" "$GUI_DIR/copied"
}

: >"$KS_USER_CACHE_DIR/kshark-virt.ini"
GUI_PROGRAM=("$KSV_BIN" view)
gui_run --page tables "$file"
gui_loaded
gui_until virt_window
listed --tasks
gui_shot tasks
# a click on a task brings its graph
pid=$(python3 -c '
import csv, sys
print(next(row["pid"] for row in csv.DictReader(open(sys.argv[1])) if row["machine"] == "host" and row["pid"] not in ("", "0")))' \
	"$GUI_DIR/printed")
gui_click_found items '*' "host | * | $pid | *"
gui_until brings "$pid"
gui_combo Tasks Disks
listed --disks
gui_shot disks
gui_combo Disks Tasks
gui_graphs
virt_zoom $((GUI_X0 + 200)) $((GUI_X0 + 420))
listed --tasks
gui_shot zoomed

# nothing reads for a page that is not seen
gui_combo Tasks Events
virt_page vCPUs
gui_until gui_not reads
virt_page Tables
listed --events

# this trace has none of these; and one that is gone
gui_combo Events Counters
gui_until gui_find widgets QLabel 'The trace has no records of this at this time' >/dev/null
mv "$file" "$file.old"
gui_combo Counters Locks
gui_until gui_find widgets QLabel '*No such file or directory*' >/dev/null
gui_need gui_not gui_find items '*' '*'
gui_quit

# without "view", the command is the one that is installed; here none is
mkdir "$GUI_DIR/bin"
ln -s "$(command -v bash)" "$GUI_DIR/bin/bash"
GUI_PROGRAM=(env "PATH=$GUI_DIR/bin" "$(command -v kernelshark)")
virt_open "$GUI_SAMPLES/migration.xen"
virt_page Tables
gui_until gui_find widgets QLabel 'kshark-virt or bash is not in PATH: install them' >/dev/null
gui_quit
