# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Markers of the worst moments: each kind where "kshark-virt report --worst" has it, stepped through
# in the dock's list with "Next worst" and "Previous worst", text on a double click with markers A
# and B at its ends; never nearer to each other than they are wide, the worst one always there; in
# combos; kept for the next start.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# the whole table is seen, also below a long warning
GUI_SCREEN=1640x1160 GUI_SIZE="1600 1100"
KINDS='exit steal wake migration irq lost offline tsc'
NUMBER=3

# only KIND [LINE...]: settings with markers of this kind alone
only()
{
	local kind

	VIRT_SETTINGS=('[markers]' "number=$NUMBER" "${@:2}")
	for kind in $KINDS; do
		[ "$kind" = "$1" ] || VIRT_SETTINGS+=("mark_$kind=false")
	done
	# walked along in order of time
	VIRT_SETTINGS+=('[findings]' "number=$NUMBER" sort=4 ascending=true only=false)
}

# worst FILE KIND N [GUEST]: of virt_worst.py
worst()
{
	"$KSV_BIN" report --quiet --worst "$3" --kind "$2" --format json "$1" "${@:4}" |
		python3 "$KSV_SOURCE_DIR/tests/gui/virt_worst.py" moments
}


# row_at NS: time in us of the first record from then on, where a marker can be. Of KVM, all moments but
# losses begin and end at records; so do all interrupts.
row_at()
{
	if [ "${file%.dat}" != "$file" ] || [ "$kind" = irq ]; then
		echo $((($1 + 500) / 1000))
		return
	fi
	awk -F, -v from="$1" 'NR > 1 && $2 + 0 >= from && (!n || $2 < n) { n = $2 }
		END { printf "%d", (n + 500) / 1000 }' "$(gui_csv "$file")"
}

# described START END TEXT: the dock shows this, and the markers, which show microseconds, are at its ends
described()
{
	gui_until virt_details "$3"
	mapfile -t marks < <(virt_markers)
	gui_same "marker A" "$(row_at "$1")" "$((10#${marks[0]//./}))"
	gui_same "marker B" "$(row_at "$2")" "$((10#${marks[1]//./}))"
}

# column NS: of a time in the window
column()
{
	echo $((GUI_X0 + ($1 - VIRT_FROM) * (GUI_X1 - GUI_X0) / (VIRT_TO - VIRT_FROM)))
}

# lane pins|heads Y: kind and column of each marker in the rows from there on
lane()
{
	local x w

	read -r x _ w _ < <(gui_find widgets KsGLWidget '*')
	gui_pixels $((GUI_X0 - 8)) "$2" $((x + w - GUI_X0 + 8)) 11 |
		python3 "$KSV_SOURCE_DIR/tests/gui/virt_worst.py" "$1" $((x + w - GUI_X0 + 8)) |
		while read -r kind column; do
			echo "$kind $((GUI_X0 - 8 + column))"
		done
}

# pins N: of the Nth graph
pins()
{
	lane pins $(($(gui_base "$1") + 1))
}

# has KIND NS: one of the pins in $found is there; sets PIN. The screenshot shows the first column only
# up to some pixels.
has()
{
	local kind x wanted

	wanted=$(column "$2")
	while read -r kind x; do
		PIN=$x
		[ "$kind" = "$1" ] && [ $((x - wanted)) -ge -4 ] && [ $((x - wanted)) -le 4 ] && return
	done <<<"$found"
	return 1
}

whole()
{
	local from=$VIRT_FROM to=$VIRT_TO

	gui_click QPushButton '- -'
	gui_until virt_window_not "$from" "$to"
}

# shown KIND: the CPU graphs of the whole trace have what $moments says, and no other marker; sets GRAPH,
# where the worst one is
shown()
{
	local n=0 time pcpu cpu

	for cpu in 0 1 2 3; do
		found=$(pins "$cpu")
		[ -z "$found" ] || n=$((n + $(wc -l <<<"$found")))
		gui_need gui_not grep -qvE "^($1 .*|)$" <<<"$found"
	done
	gui_need [ "$n" -le "$NUMBER" ]
	read -r time _ _ _ pcpu _ <<<"$moments"
	found=$(pins "$pcpu")
	gui_need has "$1" "$time"
	GRAPH=$pcpu
}

# large START END: the window shows it, and not much else
large()
{
	virt_window && [ "$VIRT_FROM" -le "$1" ] && [ "$VIRT_TO" -ge "$2" ] &&
		[ $((VIRT_TO - VIRT_FROM)) -le $((5 * ($2 - $1) / 2)) ]
}

# around START END: it is in the window, with something before and after it, also if it has no length
around()
{
	virt_window && [ "$VIRT_FROM" -lt "$1" ] && [ "$VIRT_TO" -gt "$2" ] &&
		[ $((VIRT_TO - VIRT_FROM)) -le $((5 * ($2 - $1) / 2 + 300000)) ]
}

# step BUTTON LINE: it leads to this moment, seen large
step()
{
	local start end first text

	read -r _ start end _ _ first text <<<"$2"
	gui_click QPushButton "$1"
	described "$start" "$end" "$text"
	gui_until large "$first" "$end"
	gui_need virt_details "$text"
}

# walk: from the worst one, which is selected, to the first, the last, and no further
walk()
{
	local line sorted i=0

	gui_click QToolButton Worst
	mapfile -t sorted < <(sort -n <<<"$moments")
	line=$(head -n 1 <<<"$moments")
	while [ "${sorted[i]}" != "$line" ]; do
		i=$((i + 1))
	done
	for ((i--; i >= 0; i--)); do
		step 'Previous worst' "${sorted[i]}"
	done
	gui_click QPushButton 'Previous worst'
	gui_until gui_find widgets QLabel 'First one' >/dev/null
	for line in "${sorted[@]:1}"; do
		step 'Next worst' "$line"
	done
	gui_click QPushButton 'Next worst'
	gui_until gui_find widgets QLabel 'Last one' >/dev/null
}

gui_init
while read -r kind name vcpu; do
	file=$GUI_SAMPLES/$name
	only "$kind"
	moments=$(worst "$file" "$kind" "$NUMBER")
	gui_same "moments of kind $kind" "$NUMBER" "$(wc -l <<<"$moments")"
	virt_open "$file"
	gui_click_found items '*' "$vcpu | *"
	# its graph is there, and has been scrolled to
	gui_until virt_details "<b>$vcpu</b>: "
	gui_still
	gui_split 720
	gui_shot "$kind"
	gui_graphs
	gui_until virt_window
	shown "$kind"
	read -r time start end who _ _ text <<<"$moments"
	if [ "$who" = "$vcpu" ]; then
		GRAPH=4
		found=$(pins 4)
		gui_need has "$kind" "$time"
	fi
	gui_double_click_at "$PIN" $(($(gui_base "$GRAPH") + 7))
	described "$start" "$end" "$text"
	walk
	gui_shot "$kind-walked"
	gui_quit
done <<'END'
exit hvm-exits.xen d1v1
steal credit2-basic.xen d1v0
wake lost-records.xen d0v1
migration migration.xen d1v0
lost lost-records.xen d1v0
END

# Thinning: a hundred exits, then all of them. What has no room is left out, never the worst one.
file=$GUI_SAMPLES/hvm-exits.xen
count=$("$KSV_BIN" report --quiet --worst 100000 --kind exit --vcpu d1v1 --format json "$file" |
	grep -c '"kind"')
gui_need [ "$count" -gt 1000 ]
for mode in number=100 'absolute=true us_exit=0'; do
	# shellcheck disable=SC2086
	only exit $mode
	virt_open "$file"
	gui_click_found items '*' 'd1v1 | *'
	gui_until virt_details '<b>d1v1</b>: '
	gui_still
	gui_split 720
	gui_shot "thin-${mode%% *}"
	gui_graphs
	gui_until virt_window
	read -r time _ <<<"$(worst "$file" exit 1)"
	found=$(pins 4)
	gui_need has exit "$time"
	n=$(wc -l <<<"$found")
	gui_need [ "$n" -gt 10 ]
	gui_need [ "$n" -le $(((GUI_X1 - GUI_X0) / 10 + 1)) ]
	near=$(awk 'NR > 1 && $2 - last < 10 { n++ } { last = $2 } END { print n + 0 }' <<<"$found")
	gui_same "markers that touch each other" 0 "$near"
	gui_quit
done

# Migrations of KVM: A and B are at the ends of the cost, which goes on after the first run; the sleep
# before it is seen as well.
file=$GUI_SAMPLES/kvm-nested-shift.dat kind=migration
only "$kind"
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" \
	>"$KS_USER_CACHE_DIR/kshark-virt.ini"
moments=$(worst "$file" "$kind" "$NUMBER")
gui_need [ "$(awk '$3 > $1' <<<"$moments" | wc -l)" = "$NUMBER" ]
gui_need grep -q 'not counted: blocked' <<<"$moments"
combo_view "$file"
gui_click QToolButton Worst
while read -r line; do
	step 'Next worst' "$line"
done < <(sort -n <<<"$moments")
gui_shot migration-cost
gui_quit

# Pauses, and TSCs that are set: these cost nothing, and the first ones are marked all the same, with
# something around them that can be seen.
while read -r kind name; do
	file=$GUI_SAMPLES/$name
	only "$kind"
	printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" \
		>"$KS_USER_CACHE_DIR/kshark-virt.ini"
	moments=$(worst "$file" "$kind" "$NUMBER")
	gui_same "moments of kind $kind" "$NUMBER" "$(wc -l <<<"$moments")"
	combo_view "$file"
	gui_split 720
	gui_shot "$kind"
	gui_graphs
	gui_until virt_window
	read -r time _ _ _ pcpu _ <<<"$moments"
	found=$(pins "$pcpu")
	gui_need has "$kind" "$time"
	gui_click QToolButton Worst
	while read -r _ start end _ _ _ text; do
		gui_click QPushButton 'Next worst'
		described "$start" "$end" "$text"
		gui_until around "$start" "$end"
	done < <(sort -n <<<"$moments")
	gui_shot "$kind-walked"
	gui_quit
done <<'END'
offline kvm-paused.dat
tsc kvm-nested-g1.dat
END

# Combos: below the host's graph; what the guest cannot see, in its own graph, too.
file=$GUI_SAMPLES/kvm-host.dat guest=$GUI_SAMPLES/kvm-guest.dat
for kind in steal wake; do
	only "$kind"
	printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" \
		>"$KS_USER_CACHE_DIR/kshark-virt.ini"
	combo_view "$file" "$guest"
	combo_split 6 2
	gui_shot "combo-$kind"
	gui_graphs
	gui_until virt_window
	read -r time start end vcpu _ _ text <<<"$(worst "$file" "$kind" 1)"
	combo=${vcpu#g1v}
	y=$(combo_base "$combo" 1)
	found=$(lane pins $((y + 1)))
	gui_need has "$kind" "$time"
	if [ "$kind" = steal ]; then
		y=$(($(combo_base "$combo" 0) - GUI_HEIGHT))
		found=$(lane heads "$y")
		gui_need has steal "$time"
		gui_double_click_at "$PIN" $((y + 4))
		described "$start" "$end" "Unseen by the guest: $text"
	else
		# the whole way into the guest: its first event after the entry
		gui_double_click_at "$PIN" $((y + 7))
		described "$start" "$end" "$text"
		gui_need virt_details ", the guest's first event after "
	fi
	gui_quit
done

# Interrupts: each of the worst in the combo of its vCPU, as soon as both files have been judged and read.
# Of two without room, the costlier one.
irqs_shown()
{
	local time vcpu place near seen=''

	virt_window || return
	gui_shot "$1"
	# warnings above them come and go
	gui_graphs
	while read -r time _ _ vcpu _; do
		time=$((time + later))
		place="${vcpu##*v} $(column "$time")"
		near=$(awk -v p="$place" 'BEGIN { split(p, a) }
			$1 == a[1] && $2 - a[2] < 14 && a[2] - $2 < 14' <<<"$seen")
		seen+=$place$'\n'
		found=$(lane pins $(($(combo_base "${vcpu##*v}" 1) + 1)))
		[ -n "$near" ] || has irq "$time" || return
		gui_need gui_not grep -qvE '^(irq .*|)$' <<<"$found"
	done <<<"$moments"
}

irqs_gone()
{
	gui_shot "$1"
	gui_graphs
	[ -z "$(lane pins $(($(combo_base 0 1) + 1)))$(lane pins $(($(combo_base 1 1) + 1)))" ]
}

irqs_settings()
{
	only irq number=5
	printf '%s\n' "${GUI_STRIPS_ONLY[@]}" \
		"${VIRT_SETTINGS[@]}" >"$KS_USER_CACHE_DIR/kshark-virt.ini"
}

# irqs_open NAME HOST GUEST: in combos, with the markers of the report's moments
irqs_open()
{
	file=$2 kind=irq later=0
	irqs_settings
	combo_view "$2" "$3"
	combo_split 6 2
	gui_shot "$1"
	gui_graphs
	gui_until virt_window
	moments=$(worst "$2" irq 5 "$3")
	gui_same "moments of kind irq" 5 "$(wc -l <<<"$moments")"
	gui_until irqs_shown "$1"
}

# irqs_spread FILE GUEST: interrupts by vector, with what became of them, are those of the report
irqs_spread()
{
	gui_click QToolButton "×"
	gui_click QToolButton Histograms
	gui_until gui_find widgets QCheckBox 'Selected vCPU only' >/dev/null
	gui_until gui_find items '*' '0x* | *' >/dev/null
	gui_still
	virt_copy 'Histograms as CSV'
	gui_same "interrupts in the dock" 'the same' "$("$KSV_BIN" report --quiet --format json "$@" |
		python3 -c 'import csv, json, sys
rows, wanted = [r for r in csv.DictReader(open(sys.argv[1])) if r["kind"] == "irq"], {}
for vcpu in json.load(sys.stdin)["interrupt_delivery"]["vcpus"]:
    for v in [dict(vcpu, vector="")] + vcpu["vectors"]:
        name = v["vector"] and ("0x%02x %s" % (v["vector"], v.get("name", ""))).strip()
        numbers = [v["injected"], v["seen"], v["not_seen"], v["not_judged"]]
        most = v.get("max_ns", 0)
        old = wanted.get(name, ([0] * 4, 0))
        wanted[name] = [a + b for a, b in zip(old[0], numbers)], max(old[1], most)
shown = {r["what"]: ([int(r[k]) for k in ("injected", "count", "not_seen", "not_judged")],
                     int(r["max_ns"])) for r in rows}
assert len(shown) > 1 and shown == wanted, (shown, wanted)
print("the same")' "$GUI_DIR/copied")"
	gui_click QToolButton Worst
}

# irqs_described NAME: a double click on the worst one
irqs_described()
{
	local time start end vcpu text y

	read -r time start end vcpu _ _ text <<<"$moments"
	y=$(combo_base "${vcpu##*v}" 1)
	found=$(lane pins $((y + 1)))
	gui_need has irq "$time"
	gui_double_click_at "$PIN" $((y + 7))
	described "$start" "$end" "$text"
	gui_shot "$1-described"
	gui_click QToolButton Worst
	gui_until gui_find widgets QLabel '* of 3' >/dev/null
	virt_listed "$file" "$guest" --worst 3 --kind irq
}

irqs_open combo-irq "$file" "$guest"
# Where the clocks do not fit they are gone; they come back when the host is moved as far.
type_offset 1000000000
gui_until irqs_gone combo-irq-gone
clock_of '0: kvm-host.dat'
type_offset 1000000000
later=1000000000
gui_until irqs_shown combo-irq-later
for stream in '0: kvm-host.dat' '1: kvm-guest.dat'; do
	clock_of "$stream"
	type_offset 0
done
later=0
gui_until irqs_shown combo-irq-back
irqs_described combo-irq
irqs_spread "$file" "$guest"
gui_quit

# A host that has been aligned itself, by what is stored beside it: its guest's markers go with it. Any
# trace that is open will do for a host of the host.
cp "$file" "$guest" "$GUI_DIR"
file=$GUI_DIR/kvm-host.dat guest=$GUI_DIR/kvm-guest.dat
cat >"$file.meta.json" <<'END'
{ "alignment": { "host": "kvm-guest.dat", "source": "causality", "offset": 1000000000,
  "unit": "ns", "interval": [ 1000000000, 1000000000 ], "drift_ppm": 0,
  "after_trace_cmd": false, "vcpus": [] } }
END
irqs_settings
combo_view "$file" "$guest"
combo_split 6 2
gui_shot combo-irq-moved
gui_graphs
clock_of '0: kvm-host.dat'
gui_until gui_find widgets QLabel 'Aligned with kvm-guest.dat by causality*' >/dev/null
later=1000000000
clock_of '1: kvm-guest.dat'
type_offset "$later"
gui_until irqs_shown combo-irq-moved
gui_quit

# The same on Xen: with the stored alignment and with that of the button; no moments without one.
file=$GUI_DIR/domU.xen guest=$GUI_DIR/domU-ftrace.dat
gzip -dc "$GUI_SAMPLES/domU.xen.gz" >"$file"
cp "$GUI_SAMPLES/domU.xen.meta.json" "$GUI_SAMPLES/domU-ftrace.dat" "$GUI_DIR"
"$KSV_BIN" align --quiet --write "$file" "$guest" >"$GUI_DIR/aligned"
irqs_open combo-irq-xen "$file" "$guest"
clock_of '1: domU-ftrace.dat'
gui_click QPushButton Undo
gui_until irqs_gone combo-irq-xen-gone
gui_click QPushButton Align
gui_until irqs_shown combo-irq-xen-again
irqs_described combo-irq-xen
gui_quit

# Settings are kept for the next start.
only wake
printf '%s\n' "${GUI_STRIPS_ONLY[@]}" "${VIRT_SETTINGS[@]}" \
	>"$KS_USER_CACHE_DIR/kshark-virt.ini"
combo_view "$file" "$guest"
gui_click QCheckBox Steal
gui_click QCheckBox Wake-ups
gui_combo 'the worst of each kind' 'all that cost at least'
gui_quit
combo_view "$file" "$guest"
for kind in Steal,checked Wake-ups; do
	read -r _ _ _ _ state < <(gui_find widgets QCheckBox "${kind%,*}")
	gui_same "state of ${kind%,*}" "on${kind#"${kind%,*}"}" "$state"
done
gui_need gui_find widgets QComboBox 'all that cost at least' >/dev/null
gui_quit
