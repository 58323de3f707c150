# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Questions that the window answers within one to three clicks or one drag, with the answers of "report": the largest
# share, the most migrations and why, the worst wake-up and its culprit, two guests' exits, what a guest's task did,
# a guest of a guest, the sums of a time. What is selected is one thing in all pages. Times after the
# end of a shorter trace are unknown.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# a click is all that is counted: what has been clicked on since the start
clicks=0

click()
{
	clicks=$((clicks + 1))
	"$@"
}

# within N: at most N clicks since the last question
within()
{
	gui_need [ "$clicks" -le "$1" ]
	clicks=0
}

# reported CODE: what Python prints of the report of the dock's window
reported()
{
	"$KSV_BIN" report --quiet --format json --from "${VIRT_FROM}ns" --to "${VIRT_TO}ns" "${traces[@]}" \
		>"$GUI_DIR/report"
	python3 -c "
import json, sys
report = json.load(open(sys.argv[1]))
vcpus = [vcpu for machine in report['machines'] for vcpu in machine['vcpus']]
$1" "$GUI_DIR/report"
}

# details TEXT: they have this in them
details()
{
	gui_until gui_has widgets "$1"
}

gui_init
VIRT_SETTINGS=('[markers]' shown=false '[sections]' clocks=false legend=false markers=false overlays=false)
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" >"$KS_USER_CACHE_DIR/kshark-virt.ini"
traces=("$GUI_SAMPLES/kvm-talk.dat" "$GUI_SAMPLES/kvm-talk-db.dat" "$GUI_SAMPLES/kvm-talk-web.dat")
combo_view "${traces[@]}"
COMBO_PLAIN=8

# the share of each vCPU: it is there
gui_until virt_window
reported 'for vcpu in vcpus:
	print(vcpu["vcpu"], "%.2f" % (100 * vcpu["states"]["guest"]["total_ns"] / vcpu["known_ns"]), sep=" | ")' >"$GUI_DIR/shares"
gui_need [ "$(wc -l <"$GUI_DIR/shares")" = 4 ]
while IFS= read -r share; do
	gui_need gui_find items '*' "${share/ | / |  | } | *" >/dev/null
done <"$GUI_DIR/shares"

# who migrated most: the details say so, and what the vCPU did until it did
most=$(reported 'print(max(vcpus, key=lambda vcpu: vcpu["migrations"])["vcpu"])')
n=$(reported 'print(max(vcpu["migrations"] for vcpu in vcpus))')
click gui_click_found items '*' "$most | *"
details "<br>$n migrations, until then "
parts=$(gui_ask widgets | sed -n 's/.*migrations, until then \([^<]*\)<.*/\1/p' | tr -cd '0-9 ' | tr -s ' ' +)
gui_same "migrations by what was before them" "$n" "$((0$parts))"
within 2

# the worst wake-up and its culprit, as report --worst has them
gui_click QToolButton "×"
wake=$("$KSV_BIN" report --quiet --format csv --worst 1 --kind wake "${traces[0]}" | sed -n 2p)
click gui_click QToolButton Worst
gui_until gui_find items '*' 'Wake-ups | *' >/dev/null
worst=$(gui_ask items | awk -F '\t' '$1 ~ /^Wake-ups/ { print $1; exit }')
IFS='|' read -r _ who _ culprit _ <<<"${worst// | /|}"
gui_need [ -n "$culprit" ]
gui_need [ "$(tr , '\n' <<<"$wake" | grep -cxF "$who")" = 1 ]
gui_need [ "$(tr , '\n' <<<"$wake" | grep -cxF "$culprit")" = 1 ]
click gui_click_found items '*' "$worst"
gui_until gui_shows widgets QLabel "<b>$who</b>, "
details "$culprit"
within 2

# one selection: the table, the page Why, the histograms are about it
gui_click QToolButton Histograms
gui_until gui_find widgets QCheckBox "Only $who" >/dev/null
gui_click QToolButton Exits
gui_until gui_find widgets QComboBox "*$who" >/dev/null
gui_click QToolButton Why
gui_until gui_shows widgets QLabel "<b>$who</b>, "
gui_need gui_not gui_has widgets 'Choose a vCPU'
gui_click QToolButton vCPUs
gui_until gui_shows widgets QLabel "<b>$who</b>, "

# two guests' exits side by side
gui_click QToolButton "×"
clicks=0
click gui_click QToolButton Exits
gui_until gui_find items '*' 'all | *' >/dev/null
gui_need [ "$(gui_ask items | sed -n 1p | awk -F ' [|] ' '{ print NF }')" -ge 19 ]
within 3
gui_click QToolButton vCPUs

# a time, by one drag: its sums
gui_graphs_up
gui_shot whole
gui_graphs
xdotool keydown shift
gui_drag $((GUI_X0 + 100)) $((GUI_TOP + 60)) $((GUI_X0 + 400)) $((GUI_TOP + 60))
xdotool keyup shift
gui_until gui_find widgets QLabel 'A to B: *' >/dev/null
gui_until virt_window
gui_still
reported 'for vcpu in vcpus:
	print(vcpu["vcpu"], "%.2f" % (100 * vcpu["states"]["guest"]["total_ns"] / vcpu["known_ns"]), sep=" | ")' >"$GUI_DIR/shares"
while IFS= read -r share; do
	gui_until gui_find items '*' "${share/ | / |  | } | *" >/dev/null
done <"$GUI_DIR/shares"
gui_click QToolButton "×"

gui_quit

# what the guest's task was while the vCPU was preempted, and what the culprit executed
traces=("$GUI_SAMPLES/kvm-migration.dat" "$GUI_SAMPLES/kvm-migration-g1.dat")
combo_view "${traces[@]}"
clicks=0
click gui_click QToolButton Worst
gui_until gui_find items '*' 'Steal | g1v* | *' >/dev/null
steal=$(gui_ask items | awk -F '\t' '$1 ~ /^Steal [|] g1v[01] [|] [^|]* [|] g1v/ { print $1; exit }')
gui_need [ -n "$steal" ]
click gui_click_found items '*' "$steal"
IFS='|' read -r _ who _ culprit _ <<<"${steal// | /|}"
details "<b>$who is preempted "
details "; the guest's task"
details "; $culprit executed "
within 2
gui_shot steal
gui_quit

# a guest of a guest: its numbers, and its name wherever it is mentioned
traces=("$GUI_SAMPLES/kvm-nested-linux.dat" "$GUI_SAMPLES/kvm-nested-linux-g1.dat"
	"$GUI_SAMPLES/kvm-nested-linux-n1.dat")
combo_view "${traces[@]}"
clicks=0
click gui_click_found items '*' 'g1/g1v0 | *'
details '<b>g1/g1v0</b>: '
within 2
gui_click QToolButton Worst
gui_click QCheckBox 'Only g1/g1v0'
gui_until gui_find items '*' 'Exits | g1v* | *' >/dev/null
# on the CPUs of the machine that is its host, not on pCPUs
gui_need gui_find items '*' 'Migrations | g1/g1v0 | * | CPU [0-9] of g1 to CPU [0-9] of g1 | *' >/dev/null
gui_same "moments of the inner guest on pCPUs" 0 \
	"$(gui_ask items | cut -f1 | awk '/g1\/g1v0/ && !/CPU [0-9] of g1$/ { n++ } END { print n + 0 }')"
gui_quit

# after the end of the shorter of two traces, everything is unknown
traces=("$GUI_SAMPLES/pinned.xen" "$GUI_SAMPLES/migration.xen")
combo_view "${traces[@]}"
gui_until virt_window
# KernelShark shows the time of the first one
gui_click QPushButton '- -'
gui_until virt_window_not "$VIRT_FROM" "$VIRT_TO"
gui_still
gui_until virt_window
read -r from to < <("$KSV_BIN" report --quiet --format json "${traces[0]}" |
	python3 -c 'import json, sys; print(*json.load(sys.stdin)["window_ns"])')
unknown=$(awk -v all=$((VIRT_TO - VIRT_FROM)) -v known=$((to - from)) 'BEGIN { print 100 * (1 - known / all) }')
gui_need [ "${unknown%.*}" -ge 70 ]
column=$(gui_ask items | awk -F '\t' '$1 ~ /d1v0/ { print $1; exit }' | awk -F ' [|] ?' '{ for (i = 1; i <= NF; i++) print $i }' |
	awk -v wanted="$unknown" '$1 ~ /^[0-9.]+$/ && $1 - wanted < 0.5 && wanted - $1 < 0.5' | head -n 1)
gui_need [ -n "$column" ]
gui_quit
