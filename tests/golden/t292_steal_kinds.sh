# SPDX-License-Identifier: LGPL-2.1-or-later
# The steal of vCPUs by kind: laws, sums of windows, recounts of export's intervals and of trace-cmd's text; limits.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/steal_kinds.py

# tables FILE: report as $WORK/report.json and report.csv, intervals as $WORK/tables; the laws hold
tables()
{
	rm -rf "$WORK/tables"
	run report -q --format csv "$1"
	status 0
	cp "$OUT" "$WORK/report.csv"
	run report -q --format json "$1"
	status 0
	cp "$OUT" "$WORK/report.json"
	run export -q --format csv-tables --output "$WORK/tables" "$1"
	status 0
	check "laws: $1" python3 "$ORACLE" laws "$WORK/report.json" "$WORK/report.csv" > "$WORK/n"
}

# parts FILE FROM...: windows side by side add up
parts()
{
	file=$1 from=$2 n=0
	shift 2
	for to in "$@"; do
		run report -q --format json --from "$from" --to "$to" "$file"
		status 0
		cp "$OUT" "$WORK/part$n.json"
		from=$to n=$((n + 1))
	done
	check "windows: $file" python3 "$ORACLE" sums "$WORK/report.json" "$WORK"/part*.json > "$WORK/n"
	rm "$WORK"/part*.json
}

total=0
for sample in credit2-basic credit2-4.20 dom0-culprits lost-records migration saved sched-credit sched-null; do
	tables "$SAMPLES/$sample.xen"
	check "recounted: $sample" python3 "$ORACLE" tables "$WORK/report.json" "$WORK/tables" > "$WORK/n"
	total=$((total + $(cat "$WORK/n")))
	parts "$SAMPLES/$sample.xen" 0% 7% 7.5% 31% 60% 100%
done
check "there was enough: $total" test "$total" -gt 5000000000

for sample in kvm-host kvm-talk kvm-shared kvm-ptp kvm-migration recording-kvm/host; do
	tables "$SAMPLES/$sample.dat"
	parts "$SAMPLES/$sample.dat" 0% 12% 12.5% 40% 71% 100%
	command -v trace-cmd > /dev/null || continue
	run report -q --threads --format json "$SAMPLES/$sample.dat"
	cp "$OUT" "$WORK/threads.json"
	trace-cmd report -R -t "$SAMPLES/$sample.dat" > "$WORK/text" 2> "$WORK/said"
	check "recounted: $sample" python3 "$ORACLE" text "$WORK/report.json" "$WORK/tables" "$WORK/threads.json" \
		"$WORK/text" > "$WORK/n"
	check "each kind: $(cat "$WORK/n")" grep -q "host_ns=[1-9]" "$WORK/n"
done

# without sched_migrate_task, the culprits are unknown
tables "$SAMPLES/kvm-paused.dat"
run check -q --max 'steal[machines]=1%' "$SAMPLES/kvm-paused.dat"
status 4
says "$OUT" 'steal[machines]=1%: unknown, as sched:sched_migrate_task was not recorded'

# limits: the report's number over its known time
run check -q --format json --per vcpu --max 'steal[own]=0%' --max 'steal[host]=0%' "$SAMPLES/recording-kvm"
status 1
cp "$OUT" "$WORK/check.json"
run report -q --format json "$SAMPLES/recording-kvm"
status 0
check "as the report" python3 -c '
import json, sys
vcpus = {v["vcpu"]: v for m in json.load(open(sys.argv[1]))["machines"] for v in m["vcpus"]}
for one in json.load(open(sys.argv[2]))["limits"]:
    v, kind = vcpus[one["of"]], one["limit_of"][6:-1]
    assert abs(one["value"] - 100 * v["steal_kinds"][kind + "_ns"] / v["known_ns"]) < 1e-6, one
    print(one["of"], kind)' "$OUT" "$WORK/check.json" > "$WORK/n"
check "all of them" test "$(wc -l < "$WORK/n")" = 8
for mistake in 'steal[none]=1%' 'steal[]=1%' 'steal[own=1%' 'steal[own].max=1ms' 'steal[own].count=1' 'wake[own]=1%'; do
	run check -q --max "$mistake" "$SAMPLES/kvm-host.dat"
	status 2
done

# why: the segments below a wait, by kind
run why -q --format json --worst 40 --kind steal "$SAMPLES/kvm-host.dat"
status 0
check "why" python3 -c '
import json, sys
found = 0
def look(segments):
    global found
    for s in segments:
        look(s["segments"])
        kinds = s.get("steal_kinds")
        assert bool(kinds) == (s["kind"] == "preempted"), s
        if not kinds:
            continue
        # nothing says how long a quota held it
        assert kinds.pop("limit_ns") is None, s
        assert sum(kinds.values()) == s["to_ns"] - s["from_ns"], s
        idle = sum(b["to_ns"] - b["from_ns"] for b in s["segments"] if b["cause"] == "pcpu idle")
        own = sum(b["to_ns"] - b["from_ns"] for b in s["segments"]
                  if b["kind"] == "vcpu" or b.get("subject", "").startswith("g1"))
        assert (kinds["nobody_ns"], kinds["own_ns"]) == (idle, own), s
        found += 1
for answer in json.load(open(sys.argv[1]))["answers"]:
    look(answer["segments"])
assert found > 10, found' "$OUT"
run why -q --worst 40 --kind steal "$SAMPLES/kvm-host.dat"
check "in words" grep -q 'which g1v0 has; own machine 5.533615 ms, nobody 85.433 us' "$OUT"

finish
