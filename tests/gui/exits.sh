# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The page Exits puts two machines or vCPUs beside each other, with the numbers of "report", and follows the window and
# what is selected. Two guests are beside each other after one click.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# box N: what box A (1) or B (2) shows, below the names of the pages
box()
{
	local top

	read -r _ top _ < <(gui_find widgets QToolButton Exits)
	gui_ask widgets | awk -F '\t' -v top="$top" '$1 == "QComboBox" && $4 >= top' |
		sort -t $'\t' -n -k 3,3 | sed -n "$1p" | cut -f2 | sed 's/^ *//'
}

box_is()
{
	[ "$(box "$1")" = "$2" ]
}

# exits_of FROM TO: exits are copied that are those of this window
exits_of()
{
	gui_click QToolButton Copy
	gui_choose 'Exits as CSV'
	gui_ask clipboard >"$GUI_DIR/copied"
	[ -s "$GUI_DIR/copied" ] && exits_match "$@"
}

# exits_match FROM TO: what has been copied is what "report" prints of this window
exits_match()
{
	"$KSV_BIN" report --quiet --format json --from "$1ns" --to "$2ns" "${traces[0]}" >"$GUI_DIR/report" || return
	python3 - "$GUI_DIR/copied" "$GUI_DIR/report" <<'END'
import csv
import json
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
report = json.load(open(sys.argv[2]))
subjects = {}
for machine in report["machines"]:
    subjects[machine["machine"]] = machine["exits"]
    for vcpu in machine["vcpus"]:
        subjects[vcpu["vcpu"]] = vcpu["exits"]
a, b = rows[0]["a"], rows[0]["b"]
assert a != b, (a, b)
sides = {"a": subjects[a], "b": subjects[b]}
reasons = {exit["reason"] for side in sides.values() for exit in side}
assert [row["reason"] for row in rows][0] == "" and {row["reason"] for row in rows[1:]} == reasons, (rows, reasons)
assert len(rows) == len(reasons) + 1 > 3
for key, side in sides.items():
    total = sum(exit["total_ns"] for exit in side)
    assert int(rows[0][key + "_count"]) == sum(exit["count"] for exit in side)
    assert int(rows[0][key + "_total_ns"]) == total
    found = {exit["reason"]: exit for exit in side}
    for row in rows[1:]:
        exit = found.get(row["reason"], {"count": 0, "total_ns": 0})
        for name in ("count", "total_ns", "p50_ns", "p99_ns", "max_ns"):
            assert row["%s_%s" % (key, name)] == str(exit.get(name, "")), (row, exit, name)
        assert abs(float(row[key + "_time_percent"]) - 100 * exit["total_ns"] / total) < 0.006, (row, exit)
for row in rows:
    for name in ("count", "total_ns", "p50_ns"):
        one, other = row["a_" + name], row["b_" + name]
        assert row["b_less_a_" + name] == (str(int(other) - int(one)) if one and other else ""), row
END
}

# exits_are FROM TO: the same, without complaints, as they may be about to come
exits_are()
{
	exits_of "$@" 2>"$GUI_DIR/why"
}

gui_init
VIRT_SETTINGS=('[markers]' shown=false '[sections]' clocks=false legend=false markers=false overlays=false)
traces=("$GUI_SAMPLES/kvm-talk.dat" "$GUI_SAMPLES/kvm-talk-db.dat" "$GUI_SAMPLES/kvm-talk-web.dat")
COMBO_PLAIN=8
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" >"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "${traces[@]}"

# one click from the start: both guests
gui_click QToolButton Exits
gui_until box_is 1 g1:db
gui_until box_is 2 g2:web
gui_until virt_window
gui_until exits_are "$VIRT_FROM" "$VIRT_TO"
gui_need [ "$(gui_ask items | wc -l)" -gt 3 ]
gui_graphs_up
gui_shot machines
gui_graphs
# what is selected is A; the other one stays
gui_click QToolButton vCPUs
gui_click_found items '*' 'g2:web | *'
gui_until gui_find widgets QLabel '<b>g2:web</b>*' >/dev/null
gui_click QToolButton Exits
gui_until box_is 1 g2:web
gui_until box_is 2 g1:db
gui_until exits_are "$VIRT_FROM" "$VIRT_TO"
# two vCPUs, by the boxes
gui_combo g2:web '   web v1'
gui_until box_is 1 'web v1'
gui_combo g1:db '   web v0'
gui_until exits_are "$VIRT_FROM" "$VIRT_TO"
gui_need grep -q '^web v1,web v0,' "$GUI_DIR/copied"
# another window
gui_graphs_up
gui_shot vcpus
virt_zoom $((GUI_X0 + (GUI_X1 - GUI_X0) / 4)) $((GUI_X0 + (GUI_X1 - GUI_X0) / 2))
gui_still
gui_until virt_window
gui_until exits_are "$VIRT_FROM" "$VIRT_TO"
gui_shot zoomed
gui_quit
