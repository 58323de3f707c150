# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the window has for virtual machines: numbers of the visible window, graphs on a click, the longest wait, what
# a double click shows and a mouse at rest, switching overlays and the dock, all of it kept for the next start.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"

PREEMPTED='#b879b1'
BLACK='#202020'

# model AWK-PROGRAM: over the model's CSV
model()
{
	[ -e "$GUI_DIR/model" ] || "$KSV_MODEL_CSV" "$file" >"$GUI_DIR/model"
	awk -F, "$1" "$GUI_DIR/model"
}

# cell NAME COLUMN: of the tree
cell()
{
	gui_ask items | grep -F "$1 | " | cut -f1 | awk -F ' \\| ?' -v c="$2" '{ print $c }'
}

# zoomed_to NS: the window is no longer than that
zoomed_to()
{
	virt_window && [ $((VIRT_TO - VIRT_FROM)) -lt "$1" ]
}

# colour_in_strip COLOUR N: pixels of it in the strip over the Nth graph
colour_in_strip()
{
	virt_strip "$2"
	gui_count_colour "$1" "$VIRT_X" "$VIRT_Y" "$VIRT_W" "$VIRT_H"
}

# tip_wraps: a tooltip is seen, and it is not one endless line
tip_wraps()
{
	local width

	width=$(gui_ask windows | awk -F '\t' '$1 == "QTipLabel" { print $5 }')
	[ -n "$width" ] && [ "$width" -lt 600 ]
}

# tip_says TEXT: the tooltip that is seen
tip_says()
{
	gui_shows windows QTipLabel "$1" && tip_wraps
}

# hover X Y TEXT: to rest there is answered by this; nothing else changes
hover()
{
	xdotool mousemove "$1" "$2"
	gui_until tip_says "$3"
}

# as_report: the copied command prints the same numbers as the dock
as_report()
{
	local name runs mean longest

	virt_copy 'Report command'
	gui_need grep -qF " --from ${VIRT_FROM}ns --to ${VIRT_TO}ns " "$GUI_DIR/copied"
	virt_run_copied --quiet --format json |
		python3 -c 'import json, sys
def time(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return "%.3f %s" % (ns / unit, name)
    return "%d ns" % ns
for v in (v for m in json.load(sys.stdin)["machines"] for v in m["vcpus"]):
    runs, wakes = v["runs"], v["wake_latency"]
    print(v["vcpu"], "%d + %d" % (runs["count"], runs["before"]) if "before" in runs else
          runs["count"], time(runs["mean_ns"]) if "mean_ns" in runs else "",
          time(wakes["max_ns"]) if "max_ns" in wakes else "", sep="|")' >"$GUI_DIR/report"
	gui_same "vCPUs in the report" 6 "$(grep -c . "$GUI_DIR/report")"
	while IFS='|' read -r name runs mean longest; do
		gui_same "runs of $name" "$runs" "$(cell "$name" 13)"
		gui_same "mean run of $name" "$mean" "$(cell "$name" 14)"
		gui_same "longest wake-up of $name" "$longest" "$(cell "$name" 20)"
	done <"$GUI_DIR/report"
}

# mark BUTTON ROW: as a user does; sets TIME to that of the row, in ns
mark()
{
	local row x y w h

	virt_page Events
	gui_click '*MarkerButton' "$1"
	read -r row x y w h < <(gui_ask shown | sed -n "$2p")
	gui_click_at $((x + w / 2)) $((y + h / 2))
	TIME=$(sed -n "$((row + 2))p" "$(gui_csv "$file")" | cut -d, -f2)
}

# window_is FROM TO
window_is()
{
	virt_window && [ "$VIRT_FROM $VIRT_TO" = "$1 $2" ]
}

gui_init
# a shell must take it as it is
file="$GUI_DIR/it's \$(credit2) <&> basic.xen"
cp "$GUI_SAMPLES/credit2-basic.xen" "$file"
virt_open "$file"
gui_need virt_details ', 0.000000000 to '
# a user who has not seen the colours before gets their meaning
gui_need virt_details '<b>Preempted</b>: runnable, but its pCPU runs something else (steal)'

# numbers of the whole trace
guest=$(model '$1 == "vcpu" && $2 == 20000 { all += $4 - $3
	if ($5 == "unknown") all -= $4 - $3; if ($5 == "guest") n += $4 - $3 }
	END { printf "%.2f", 100 * n / all }')
moved=$(model '$1 == "migration" && $2 == 20000 { n++ } END { print n + 0 }')
gui_same "guest time of d1v0" "$guest" "$(cell d1v0 3)"
gui_same "migrations of d1v0" "$moved" "$(cell d1v0 21)"
gui_need [ "$moved" -gt 0 ]

# every column of a list can be sorted by, both ways, and the list is copied like that
section()
{
	gui_ask sections | grep -P "^\Q$1\E\t" | cut -f2- >"$GUI_DIR/section"
	[ -s "$GUI_DIR/section" ]
}
# sort_by COPY TITLE: click on it; sets ORDER
sort_by()
{
	local x y w h

	read -r x y w h <"$GUI_DIR/section"
	# the menu's line of before may have been there: two clicks at one place are a double click
	virt_click_nothing
	gui_click_at $((x + w / 2)) $((y + h / 2))
	gui_still
	virt_copy "$1"
	ORDER=$(python3 "$KSV_SOURCE_DIR/tests/gui/virt_tables.py" sorted "$GUI_DIR/copied" "$2")
}
# sorted_by COPY TITLE...: all that are seen
sorted_by()
{
	local title before

	for title in "${@:2}"; do
		gui_need section "$title"
		sort_by "$1" "$title"
		before=$ORDER
		sort_by "$1" "$title"
		case "$before $ORDER" in
		'up down' | 'down up' | 'same same') ;;
		*) gui_fail "by $title: $before, then $ORDER" ;;
		esac
	done
}
# those that are scrolled away, but what is sorted by a number that is not seen
virt_copy 'vCPUs as text'
read -r x y w h _ < <(gui_find items '*' 'd1v0 | *')
xdotool mousemove $((x + 100)) "$y"
head -n 1 "$GUI_DIR/copied" | tr '\t' '\n' | sed 1,2d | grep -vx -e 'Top exits' -e Culprits >"$GUI_DIR/titles"
while read -r title <&3; do
	until section "$title"; do
		xdotool mousemove $((x + 100)) "$y" click 7
		gui_still
	done
	sort_by 'vCPUs as text' "$title"
	[[ $ORDER =~ ^(up|down|same)$ ]] || gui_fail "by $title: $ORDER"
done 3<"$GUI_DIR/titles"
gui_need [ "$(wc -l <"$GUI_DIR/titles")" -gt 10 ]
xdotool mousemove $((x + 100)) "$y" click --repeat 60 6
gui_still
sorted_by 'vCPUs as text' 'Guest %' vCPU
[ "$ORDER" = up ] || sort_by 'vCPUs as text' vCPU
gui_ask items >"$GUI_DIR/items"
gui_same 'vCPUs that are copied' '9 rows' \
	"$(python3 "$KSV_SOURCE_DIR/tests/gui/virt_tables.py" copied "$GUI_DIR/copied" "$GUI_DIR/items")"

# a click shows the graph, once
gui_click_found items '*' 'd1v0 | *'
gui_until virt_details '<b>d1v0</b>: guest'
gui_split 560
gui_shot graph
gui_graphs
gui_need [ "$(colour_in_strip "$PREEMPTED" 4)" -gt 20 ]
sum=$(gui_picture_sum)
gui_click_found items '*' 'd1v0 | *'
gui_still
gui_same "the screen after a second click" "$sum" "$(gui_picture_sum)"

# the worst moments are those of the report: of the chosen vCPU, of all, of what has these words
gui_click QToolButton Worst
gui_until gui_find widgets QCheckBox 'Only d1v0' >/dev/null
virt_listed "$file" --worst 40 --vcpu d1v0
gui_click QCheckBox 'Only d1v0'
virt_listed "$file" --worst 40
sorted_by 'Worst moments as text' Kind vCPU Cause 'At [s]' Cost
gui_click QLineEdit Filter
xdotool type 'steal d0v0'
gui_until gui_not gui_find items '*' 'Wake-ups | *' >/dev/null
gui_need gui_find items '*' 'Steal | d?v? | * | d0v0 | *' >/dev/null
gui_shot findings
gui_ask items | cut -f1 >"$GUI_DIR/items"
virt_copy 'Worst moments as text'
gui_need diff <(tail -n +2 "$GUI_DIR/copied" | sed 's/\t/ | /g') "$GUI_DIR/items"
xdotool key ctrl+a BackSpace
gui_until gui_find items '*' 'Wake-ups | *' >/dev/null
gui_click QCheckBox 'Only d1v0'

# the matrix of steal: each sum and cell is that of the report; a click lists the waits of a cell
stolen()
{
	virt_copy 'Steal as CSV'
	"$KSV_BIN" report --quiet --format json "$file" | python3 -c 'import csv, json, sys
per = {}
for m in json.load(sys.stdin)["machines"]:
    for v in m["vcpus"]:
        row = m["machine"] if sys.argv[1] == "machines" else v["vcpu"]
        for who in v["culprits"]:
            name = who["who"].split("v")[0] if sys.argv[1] == "machines" else who["who"]
            per.setdefault(row, {}).setdefault(name, 0)
            per[row][name] += who["total_ns"]
shown = list(csv.DictReader(open(sys.argv[2])))
assert {row["stolen_from"] for row in shown} == set(per), per
for row in shown:
    mine = per[row.pop("stolen_from")]
    assert int(row.pop("stolen_ns")) == sum(mine.values()), mine
    assert {k: int(ns) for k, ns in row.items() if int(ns)} == \
        {k + "_ns": ns for k, ns in mine.items() if ns}, (row, mine)
print(len(shown), "rows")' "$1" "$GUI_DIR/copied"
}
gui_click QToolButton Steal
gui_same "machines" '3 rows' "$(stolen machines)"
gui_click QCheckBox 'vCPU by vCPU'
gui_same "vCPUs" '6 rows' "$(stolen vcpus)"
gui_click QCheckBox 'By kind'
virt_copy 'Steal as CSV'
"$KSV_BIN" report --quiet --format json "$file" | python3 -c 'import csv, json, sys
vcpus = {v["vcpu"]: v["steal_kinds"] for m in json.load(sys.stdin)["machines"] for v in m["vcpus"]}
shown = {row["stolen_from"]: row for row in csv.DictReader(open(sys.argv[1]))}
assert set(shown) == set(vcpus), shown
for name, kinds in vcpus.items():
    assert kinds == {k: int(ns) for k, ns in shown[name].items() if k not in ("stolen_from", "stolen_ns")}, name
    assert int(shown[name]["stolen_ns"]) == sum(kinds.values()), name' "$GUI_DIR/copied"
gui_click QCheckBox 'By kind'
gui_until stolen vcpus >/dev/null
xdotool mousemove 10 10
gui_shot steal
# a cell is as hot as it is bad
read -r x y w h _ < <(gui_find widgets QTableWidget '*')
gui_pixels "$x" "$y" "$w" "$h" >"$GUI_DIR/pixels"
gui_ask cells >"$GUI_DIR/cells"
python3 "$KSV_SOURCE_DIR/tests/gui/virt_tables.py" heat "$GUI_DIR/copied" "$GUI_DIR/cells" \
	"$GUI_DIR/pixels" "$x" "$y" "$w"
read -r x y w h _ < <(gui_find items '*' '* | * | *')
gui_click_at $((x + w / 2)) $((y + h / 2))
gui_until gui_find widgets QToolButton 'Steal of d0v0 *' >/dev/null
gui_need gui_find items '*' 'Steal | d0v0 | *' >/dev/null
gui_need gui_not gui_find items '*' 'Wake-ups | *' >/dev/null
gui_click QToolButton 'Steal of d0v0 *'
gui_until gui_find items '*' 'Migrations | d1v0 | *' >/dev/null
gui_click QToolButton vCPUs

# how moments spread: the numbers are those of the report; a bar is what the report lists of its costs
spread()
{
	virt_copy 'Histograms as CSV'
	"$KSV_BIN" report --quiet --format json "$file" | python3 -c 'import csv, json, sys
vcpu = [v for m in json.load(sys.stdin)["machines"] for v in m["vcpus"] if v["vcpu"] == sys.argv[1]][0]
wanted = {("steal", ""): vcpu["states"]["preempted"], ("migration", ""): vcpu["migration_cost"]}
wanted.update({("exit", e["reason"]): e for e in vcpu["exits"]})
shown = {(r["kind"], r["what"]): r for r in csv.DictReader(open(sys.argv[2]))}
for key, dist in wanted.items():
    assert int(shown[key]["count"]) == dist.get("complete", dist["count"]) > 0, (key, shown[key], dist)
    for p in "p50", "p99", "max":
        assert int(shown[key][p + "_ns"]) == dist[p + "_ns"], (key, p, shown[key], dist)
    assert int(shown[key]["count"]) < 2 or int(shown[key]["p50_ns"]) < int(shown[key]["max_ns"])
    n = int(shown[key]["count"])
    mean = (int(shown[key]["total_ns"]) + n // 2) // n
    assert mean == dist["mean_ns"], (key, shown[key], dist)
print(len(wanted), "the same")' "$1" "$GUI_DIR/copied"
}

# bar_column COLOUR: sets BAR_X and BAR_Y to near the foot of the costliest bar of the histogram
bar_column()
{
	local x y w h column

	read -r x y w h _ < <(gui_find widgets QLabel 'Steal*: *, p50 *')
	BAR_Y=$((y + h - 30))
	column=$(gui_pixels "$x" "$BAR_Y" "$w" 30 | awk -v w="$w" -v colour="$1" '
		$1 == colour && (NR - 1) % w > most { most = (NR - 1) % w } END { print most }')
	BAR_X=$((x + ${column:-0}))
	[ -n "$column" ]
}

# bar_listed: the list is of the last bar, whose bounds are worked out anew, and of nothing else
bar_listed()
{
	virt_copy 'Worst moments as CSV'
	"$KSV_BIN" report --quiet --worst 100000 --kind steal --vcpu d1v0 --format json "$file" |
		python3 -c 'import csv, json, sys
costs = sorted(m["cost_ns"] for m in json.load(sys.stdin)["worst"] if m["begun"] and m["complete"])
bounds = [step * 10 ** i // 10 for i in range(2, 12) for step in (10, 15, 20, 30, 50, 70)]
least = max(b for b in bounds if b <= costs[-1])
shown = sorted(int(r["cost_ns"]) for r in csv.DictReader(open(sys.argv[1])))
assert shown == [c for c in costs if c >= least], (least, shown, costs[-10:])
print("the same")' "$GUI_DIR/copied"
}

gui_click QToolButton Histograms
gui_until gui_find widgets QLabel 'Steal of d1v0: *, p50 *' >/dev/null
gui_same "distributions of d1v0" '2 the same' "$(spread d1v0)"
gui_shot distributions
gui_need bar_column "$PREEMPTED"
xdotool mousemove "$BAR_X" "$((BAR_Y - 1))" mousemove "$BAR_X" "$BAR_Y"
gui_until tip_wraps
gui_click_at "$BAR_X" "$BAR_Y"
gui_until gui_find widgets QToolButton 'Steal of d1v0, * to *' >/dev/null
gui_same "moments of the costliest bar" 'the same' "$(bar_listed)"
gui_shot distributions-bar
gui_click QToolButton 'Steal of d1v0, *'
gui_click QToolButton Histograms
gui_click QCheckBox 'Only d1v0'
gui_until gui_find widgets QLabel 'Steal: *, p50 *' >/dev/null
gui_click QCheckBox 'Only d1v0'
gui_until gui_find widgets QLabel 'Steal of d1v0: *, p50 *' >/dev/null
for size in '960 768' '1600 1000'; do
	# shellcheck disable=SC2086
	gui_resize $size
	gui_still
	gui_shot "distributions-${size/ /x}"
	# the whole title, three lines for the bars, and the scale
	read -r _ _ _ h _ < <(gui_find widgets QLabel 'Steal of d1v0: *, p50 *')
	gui_need [ "$size" != '960 768' -o "$h" -ge $((5 * $(gui_ask font))) ]
	gui_need bar_column "$PREEMPTED"
	gui_need [ "$(gui_count_colour "$PREEMPTED" $((BAR_X - 80)) "$BAR_Y" 80 30)" -gt 50 ]
done
gui_click QToolButton vCPUs

# names stay in place when the table is scrolled; columns can be chosen
read -r x y w h _ < <(gui_find items '*' 'd1v0 | *')
gui_shot table
# of its machine and its own, as the next one may be cut; as much as is in its column with any font
names=$(gui_pixels "$x" "$((y - h))" "$w" $((2 * h)))
rest=$(gui_pixels $((x + 150)) "$((y - h))" 100 $((2 * h)))
xdotool mousemove $((x + 100)) $((y + h / 2)) click --repeat 8 7
gui_still
gui_shot table-scrolled
gui_same "names after scrolling" "$names" "$(gui_pixels "$x" "$((y - h))" "$w" $((2 * h)))"
gui_need [ "$rest" != "$(gui_pixels $((x + 150)) "$((y - h))" 100 $((2 * h)))" ]
gui_click_at $((x + 20)) $((y - h / 2))
gui_until virt_details '<b>d1</b>: '
gui_click_at $((x + 20)) $((y + h / 2))
gui_until virt_details '<b>d1v0</b>: guest'
xdotool mousemove $((x + 100)) $((y + h / 2)) click --repeat 8 6
gui_still
gui_shot table-back
gui_same "the table, scrolled back" "$rest" "$(gui_pixels $((x + 150)) "$((y - h))" 100 $((2 * h)))"
gui_click QToolButton Columns
gui_choose States
gui_still
gui_shot columns
gui_need [ "$(gui_count_colour "$PREEMPTED" $((x + 40)) "$y" 300 "$h")" = 0 ]
gui_click QToolButton Columns
gui_choose States
gui_until gui_find widgets QToolButton Columns >/dev/null

# ---- the overview ----

# rows PID...: the graphs below those of the CPUs are these, pixel by pixel
rows()
{
	local pid n=4 x y w h

	# room for all, if there is not yet: else they are scrolled
	read -r x y w h _ < <(gui_find widgets QSplitterHandle '*')
	gui_drag $((x + w / 2)) $((y + h / 2)) $((x + w / 2)) 840
	gui_shot rows
	gui_graphs
	virt_window
	for pid; do
		virt_check "$n" "$file" vcpu "$pid"
		n=$((n + 1))
	done
}

# pid NAME: d1v0 is 20000
pid()
{
	local domain=${1%v*}

	echo $(((${domain#d} + 1) * 10000 + ${1#*v}))
}

# above the graphs
gui_menu View Lanes
gui_until gui_find widgets QLabel '6 vCPUs, 6 shown, 0 selected' >/dev/null
gui_shot overview

# A lane has the states of its vCPU: each has the table's percentage of the pixels.
read -r _ y < <(virt_lane 4)
read -r x _ w _ < <(gui_find widgets QAbstractScrollArea '*')
pink=$(gui_count_colour "$PREEMPTED" "$x" $((y - 4)) "$w" 8)
green=$(gui_count_colour '#009e73' "$x" $((y - 4)) "$w" 8)
gui_need [ "$pink" -gt 100 ]
share=$(model '$1 == "vcpu" && $2 == 20000 && ($5 == "preempted" || $5 == "guest") {
	n[$5] += $4 - $3 } END { printf "%d", 1000 * n["preempted"] / (n["preempted"] + n["guest"]) }')
gui_need [ $((pink * 1000 / (pink + green))) -gt $((share - 80)) ]
gui_need [ $((pink * 1000 / (pink + green))) -lt $((share + 80)) ]

# filter, select all, plot
gui_click QLineEdit Filter
xdotool type --delay 1 'd2'
gui_until gui_find widgets QLabel '6 vCPUs, 2 shown, 0 selected' >/dev/null
gui_click QPushButton 'Select all'
gui_until gui_find widgets QLabel '6 vCPUs, 2 shown, 2 selected' >/dev/null
gui_click QPushButton 'Plot only'
gui_still
rows 30000 30001
gui_click QLineEdit d2
xdotool key ctrl+a BackSpace
gui_until gui_find widgets QLabel '6 vCPUs, 6 shown, 2 selected' >/dev/null

# the worst one is first; with it comes the culprit of most of its time, beside it
gui_combo 'by machine' 'worst first'
worst=$(model '$1 == "vcpu" && ($5 == "preempted" || $5 == "waking") { n[$2] += $4 - $3 }
	END { for (pid in n) if (n[pid] > most) { most = n[pid]; worst = pid } print worst }')
read -r victim culprit < <("$KSV_BIN" report --quiet --format json "$file" |
	python3 -c 'import json, sys
for v in (v for m in json.load(sys.stdin)["machines"] for v in m["vcpus"]):
    domain, number = v["vcpu"][1:].split("v")
    if (int(domain) + 1) * 10000 + int(number) == int(sys.argv[1]):
        print(v["vcpu"], max((c for c in v["culprits"] if c["who"] != "nobody"),
                             key=lambda c: c["total_ns"])["who"])' "$worst")
virt_click_lane 0
rows "$(pid "$victim")" "$(pid "$culprit")"

# pinned: the next one comes below
gui_click QPushButton Pin
gui_until gui_find widgets QLabel 'Graphs pinned: 2' >/dev/null
virt_click_lane 5
gui_until gui_find widgets QLabel '6 vCPUs, 6 shown, 1 selected' >/dev/null
rows "$(pid "$victim")" "$(pid "$culprit")"

# only the first graph again, and no lanes
gui_combo 'worst first' 'by machine'
gui_click QLineEdit Filter
xdotool type --delay 1 'd1v0'
gui_until gui_find widgets QLabel '6 vCPUs, 1 shown, 1 selected' >/dev/null
gui_click QPushButton 'Select all'
gui_click QPushButton 'Plot only'
rows 20000
gui_menu View Lanes
gui_split 560
gui_menu View 'Virtual machines'
gui_until gui_not gui_find widgets QDockWidget '*' >/dev/null
gui_menu View 'Virtual machines'
gui_until gui_enabled widgets QPushButton 'Zoom to it'

# the longest wait, seen large and marked
wait=$(model '$1 == "vcpu" && $2 == 20000 && ($5 == "preempted" || $5 == "waking") &&
	$4 - $3 > n { n = $4 - $3; from = $3; to = $4 } END { print from, to, to - from }')
read -r from to length <<<"$wait"
gui_click_found items '*' 'd1v0 | *'
gui_until gui_find widgets QLabel '<b>d1v0</b>*' >/dev/null
gui_click QPushButton 'Zoom to it'
gui_until zoomed_to $((length * 21 / 10))
gui_need [ "$VIRT_FROM" -lt "$from" ]
gui_need [ "$VIRT_TO" -gt "$to" ]
mapfile -t marks < <(virt_markers)
gui_same "marker A" "$(((from + 500) / 1000))" "$((10#${marks[0]//./}))"
gui_same "marker B" "$(((to + 500) / 1000))" "$((10#${marks[1]//./}))"

as_report

# a double click on it says who is to blame; the window stays as it is
gui_shot longest
gui_graphs
virt_strip 4
gui_until gui_not virt_details 'is preempted'
x=$((VIRT_X + VIRT_W / 2)) y=$((VIRT_Y + VIRT_H / 2))

# to rest there says the same, and changes nothing
hover "$x" "$y" 'd1v0 is preempted (last on pCPU'
said=$(gui_ask windows | sed -n 's/^QTipLabel\t<qt>\(.*\)<\/qt>\t.*/\1/p')
gui_shot hover
gui_need [ -n "$said" ]
gui_need gui_not virt_details 'is preempted'
mapfile -t rested < <(virt_markers)
gui_same "markers where the mouse rests" "${marks[*]}" "${rested[*]}"
pcpu=${said#*last on pCPU } pcpu=${pcpu%%)*}
virt_strip "$pcpu"
hover "$x" $((VIRT_Y + VIRT_H / 2)) " on pCPU $pcpu for "
xdotool mousemove "$x" $(($(gui_base 4) + 15))
gui_until gui_not gui_has windows QTipLabel
virt_strip 4

gui_double_click_at "$x" "$y"
gui_until virt_details 'd1v0 is preempted (last on pCPU'
gui_need virt_details ' by d'
gui_need virt_details "$said"
gui_until tip_wraps
before="$VIRT_FROM $VIRT_TO"
gui_still
virt_window
gui_same "window after a double click" "$before" "$VIRT_FROM $VIRT_TO"

# What the user marks himself is what the figures are of, until he wants the visible window again.
mark 'Marker A' 2
from=$TIME
xdotool click --repeat 150 5
gui_still
mark 'Marker B' 9
gui_need [ "$from" -lt "$TIME" ]
gui_until window_is "$from" "$TIME"
gui_need gui_find widgets QLabel 'A to B: <b>*' >/dev/null
virt_page vCPUs
as_report
gui_shot selection
gui_click QToolButton Worst
gui_click QCheckBox 'Only d1v0'
virt_listed "$file" --worst 40 --from "${VIRT_FROM}ns" --to "${VIRT_TO}ns"
gui_click QToolButton vCPUs
gui_click QToolButton Visible
gui_until gui_find widgets QLabel 'Visible: <b>*' >/dev/null
virt_window
gui_need gui_not window_is "$from" "$TIME"
as_report
gui_click QToolButton 'A to B'
gui_until window_is "$from" "$TIME"
gui_click QToolButton Visible

# The search, by buttons and keys: what the report lists from that many ms on, in order of time, to both ends.
mapfile -t long < <("$KSV_BIN" report --quiet --worst 100000 --kind steal --vcpu d1v0 --format json "$file" |
	python3 -c 'import json, sys
for m in sorted((m for m in json.load(sys.stdin)["worst"] if m["cost_ns"] >= 20000000),
                key=lambda m: m["time_ns"]):
    print(m["start_ns"], m["end_ns"])')
gui_need [ "${#long[@]}" -gt 2 ]
# found N: it is the Nth, marked and seen
found()
{
	local from to

	read -r from to <<<"${long[$1 - 1]}"
	gui_until gui_find widgets QLabel "$1 of ${#long[@]}: * at $((from / 1000000000)).* s, d1v0" >/dev/null
	gui_until holds "$from" "$to"
	mapfile -t marks < <(virt_markers)
	gui_same "marker A" "$(((from + 500) / 1000))" "$((10#${marks[0]//./}))"
	gui_same "marker B" "$(((to + 500) / 1000))" "$((10#${marks[1]//./}))"
}
# holds FROM TO: the window does, and not much more; it begins where the trace does at the earliest
holds()
{
	zoomed_to $((($2 - $1) * 21 / 10)) && [ "$VIRT_FROM" -le "$1" ] && [ "$VIRT_TO" -ge "$2" ]
}
gui_click QPushButton '- -'
gui_click QToolButton Search
gui_click QLineEdit 'at least 1'
xdotool key ctrl+a type 20
gui_click QLineEdit 'Any vCPU'
xdotool type d1v0
xdotool key Return
found 1
gui_need virt_details 'd1v0 is preempted'
gui_shot search
xdotool key shift+F3
gui_until gui_find widgets QLabel "No earlier match; ${#long[@]} in all" >/dev/null
gui_click QPushButton 'Find next'
found 2
xdotool key shift+F3
found 1
gui_click QToolButton vCPUs
for n in "${!long[@]}"; do
	[ "$n" = 0 ] || { xdotool key F3 && found $((n + 1)); }
done
xdotool key F3
gui_until gui_find widgets QLabel "No later match; ${#long[@]} in all" >/dev/null
gui_combo Preempted 'VM exit'
gui_click QPushButton 'Find next'
gui_until gui_find widgets QLabel '*; there is none' >/dev/null
# no vCPU is not every vCPU
gui_combo 'VM exit' Preempted
gui_click QLineEdit d1v0
xdotool key ctrl+a type 'd1 none'
xdotool key Return
gui_until gui_find widgets QLabel '*; there is none' >/dev/null
gui_click QToolButton vCPUs

# Pictures: what is seen, with every colour of the legend; the figure that the command draws of it.
for format in png svg; do
	gui_menu Plots 'Save picture ...'
	gui_file "$GUI_DIR/picture.$format"
	gui_until [ -s "$GUI_DIR/picture.$format" ]
done
PLOT_PNG_LEAST=100 PLOT_PNG_EDGES=any python3 "$KSV_SOURCE_DIR/tests/golden/plot_png.py" \
	"$GUI_DIR/picture.png" 0 0 "${PREEMPTED#?}" 009e73 e69f00 d55e00 f0e442 e4e6ea a0a4a8 \
	22ddbb bb22ff
w=$(python3 -c 'import struct, sys
print(struct.unpack(">I", open(sys.argv[1], "rb").read(20)[16:])[0])' "$GUI_DIR/picture.png")
gui_need [ "$w" -gt 400 ]
virt_window
rows=$(grep -o 'data-name="d[0-9]*v[0-9]*"' "$GUI_DIR/picture.svg" | cut -d '"' -f2 | sort -u | xargs)
gui_need grep -qw d1v0 <<<"$rows"
"$KSV_BIN" plot --quiet --width "$w" --from "${VIRT_FROM}ns" --to "${VIRT_TO}ns" --vcpu "${rows// /,}" \
	--title "${file##*/}" --output "$GUI_DIR/wanted.svg" "$file"
gui_need cmp "$GUI_DIR/wanted.svg" "$GUI_DIR/picture.svg"
python3 -c 'import sys, xml.etree.ElementTree as tree
assert sys.argv[2] in ["".join(text.itertext()) for text in tree.parse(sys.argv[1]).iter()]' \
	"$GUI_DIR/picture.svg" "${file##*/}"
for format in png svg; do
	gui_menu Plots 'Save picture ...'
	gui_file "$GUI_DIR/none/picture.$format"
	# it may still move when it is clicked on
	gui_close '*OK'
done

# of what is in the dock as well
read -r x y w h _ < <(gui_find widgets QCheckBox 'Markers:')
xdotool mousemove 10 10 mousemove $((x + w / 2)) $((y + h / 2))
gui_until gui_not gui_has windows QTipLabel
xdotool mousemove_relative 1 1
gui_until tip_wraps

# overlays
gui_click QPushButton '- -'
gui_click QCheckBox 'vCPU graphs'
gui_shot without
# they may have been scrolled
gui_graphs
gui_same "preempted pixels without vCPU graphs" 0 "$(colour_in_strip "$PREEMPTED" 4)"
gui_click QCheckBox 'Migrations'
gui_click QCheckBox 'vCPU graphs'
gui_shot marks
gui_need [ "$(colour_in_strip "$PREEMPTED" 4)" -gt 20 ]
base=$(gui_base 4)
gui_need [ "$(gui_count_colour "$BLACK" "$VIRT_X" $((base + 3)) "$VIRT_W" 8)" -gt 20 ]

# the dock goes and comes by its menu, and so it stays for the next start
gui_menu View 'Virtual machines'
gui_until gui_not gui_find widgets QDockWidget '*' >/dev/null
gui_quit
gui_run -p "$KSV_PLUGIN,$KSV_PLUGIN_VIRT" "$file"
gui_loaded "$file"
gui_need gui_not gui_find widgets QDockWidget '*' >/dev/null
gui_menu View 'Virtual machines'
gui_until virt_window
read -r _ _ _ _ state < <(gui_find widgets QCheckBox Migrations)
gui_same "state of Migrations, which had been switched on" on,checked "$state"
read -r _ _ _ _ state < <(gui_find widgets QCheckBox Arrows)
gui_same "state of Arrows, which had never been" on "$state"
gui_need gui_not virt_details '<b>Preempted</b>: '
gui_quit
