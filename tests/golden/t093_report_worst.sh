# SPDX-License-Identifier: LGPL-2.1-or-later
# report --worst: all moments together are what the report itself adds up.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

for sample in credit2-basic hvm-exits lost-records; do
	run report --quiet --worst 6 $sample.xen
	status 0
	golden "t093_worst_$sample" "$OUT"
	run report --quiet --format json $sample.xen
	cp "$OUT" "$WORK/report.json"
	run report --quiet --format json --worst 1000000 $sample.xen
	status 0
	cp "$OUT" "$WORK/all.json"
	run report --quiet --format csv --worst 1000000 $sample.xen
	status 0
	check "$sample: as the report adds up" python3 - "$WORK/report.json" "$WORK/all.json" \
		"$OUT" <<'END'
import collections, csv, json, sys
report, found = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))["worst"]
rows = list(csv.DictReader(open(sys.argv[3])))
assert found and len(rows) == len(found)
for row, moment in zip(rows, found):
    for key in ("kind", "time_ns", "cost_ns", "start_ns", "end_ns"):
        assert str(moment[key]) == row[key], (row, moment)
assert all(a["cost_ns"] >= b["cost_ns"] for a, b in zip(found, found[1:]))
sums = collections.Counter()
count = collections.Counter()
for moment in found:
    where = moment["kind"], moment.get("vcpu")
    sums[where] += moment["cost_ns"]
    count[where] += 1
    assert moment["end_ns"] >= moment["start_ns"]
    if moment["kind"] != "lost":
        assert sum(moment["states_ns"].values()) == moment["end_ns"] - moment["start_ns"], moment
    if moment["kind"] == "steal":
        assert 0 <= moment["who_ns"] <= moment["cost_ns"]
for machine in report["machines"]:
    for vcpu in machine["vcpus"]:
        name = vcpu["vcpu"]
        assert sums["steal", name] == vcpu["states"]["preempted"]["total_ns"], name
        assert sums["wake", name] == vcpu["states"]["waking"]["total_ns"], name
        assert count["exit", name] == sum(exit["complete"] for exit in vcpu["exits"]), name
        assert sums["exit", name] == sum(exit["total_ns"] for exit in vcpu["exits"]), name
        moves = sorted((moment["time_ns"], moment["from_pcpu"], moment["pcpu"],
                        moment["end_ns"] - moment["start_ns"])
                       for moment in found
                       if moment["kind"] == "migration" and moment["vcpu"] == name)
        assert moves == [(move["time_ns"], move["from_pcpu"], move["to_pcpu"], move["gap_ns"])
                         for move in vcpu["migration_list"]], name
windows = report["lost"]["windows"]
assert sums["lost", None] == sum(window["to_ns"] - window["from_ns"] for window in windows)
assert count["lost", None] == len(windows)
END
done

# One kind of one vCPU, in a window, above a threshold.
run report --quiet --format csv --worst 1000 --kind wake,steal --vcpu d1v0 --from 1 --to 2 \
	--above 5ms credit2-basic.xen
status 0
awk -F, 'NR > 1 && ($2 != "wake" && $2 != "steal" || $5 != "d1v0" || $3 < 1e9 || $3 >= 2e9 ||
	$4 < 5e6) { bad = 1 } END { exit bad || NR < 3 }' "$OUT" || fail "not what was asked for"
checks=$((checks + 1))

# Every kind that is named in one place is known in the others.
run report --worst 1 --kind foo hvm-exits.xen
status 2
kinds=$(sed -n '1s/.* list of //p' "$ERR" | sed 's/ and /, /; s/,//g')
check "kinds: $kinds" test "$(wc -w <<< "$kinds")" -ge 8
run report --help
check "help names them" grep -qF "only${kinds// /,}" <(tr -d '\n ' < "$OUT")
run help --completion=bash
cp "$OUT" "$WORK/completion"
check "completion of --kind names them" grep -qF "\"$kinds\"" "$WORK/completion"
for kind in $kinds; do
	run report -q --worst 1 --kind "$kind" hvm-exits.xen
	status 0
done
run record --flight --trigger 'foo>1ms'
status 2
triggers=$(sed -n '1s/.* none of //p' "$ERR" | sed 's/ and /, /; s/,//g')
check "triggers: all that need no guest" test "$triggers" = "${kinds/ irq/}"
check "completion of --trigger names them" grep -qF "\"${triggers// /> }>\"" "$WORK/completion"

# A wait that is moved: its pCPU is that of the longest part, and its culprit had this one, by the intervals.
for trace in kvm-talk.dat credit2-4.20.xen; do
	run report -q -f json --worst 1000000 --kind steal $trace
	cp "$OUT" "$WORK/steal.json"
	rm -rf "$WORK/tables"
	run export -q -f csv-tables --worst 0 -o "$WORK/tables" $trace
	status 0
	check "$trace: pCPUs and culprits belong together" \
		python3 "$GOLDEN/worst_parts.py" "$WORK/steal.json" "$WORK/tables"
done

run report --worst 5 --kind irq hvm-exits.xen
status 0
says "$OUT" "irq: unknown, as no aligned trace of the guest is given"
check "no claim that there is none" sh -c "! grep \"nothing of this kind\" \"\$1\"" - "$OUT"

finish
