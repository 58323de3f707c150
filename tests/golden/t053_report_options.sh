# SPDX-License-Identifier: LGPL-2.1-or-later
# Options of kshark-virt report.
. "$(dirname "$0")/lib.sh"

sample=$SAMPLES/credit2-basic.xen

run report --full --cpu-hz 2300M --from 1.5 --to 1600ms --vcpu d1v0,d2 "$sample"
status 0
golden t053_report_window "$OUT"

run report -f json --vcpu d1v0 "$sample"
status 0
check "one machine, one vCPU" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert [v["vcpu"] for m in r["machines"] for v in m["vcpus"]] == ["d1v0"]
assert r["machines"][0]["n_vcpus"] == 2
assert r["clock"]["source"] == "calibrated"' "$OUT"

# several files: one header in CSV, one object each in JSON
run report -f csv "$sample" "$SAMPLES/pinned.xen"
status 0
check "one header" test "$(grep -c '^file,section,' "$OUT")" = 1
check "two files" test "$(sed 1d "$OUT" | cut -d, -f1 | sort -u | wc -l)" = 2
check "17 columns" python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
assert len(rows) > 100 and {len(r) for r in rows} == {17}' "$OUT"
run report -f json "$sample" "$SAMPLES/pinned.xen"
status 0
check "two reports" python3 -c 'import json, sys
document = json.load(open(sys.argv[1]))
assert document["version"] == 1
assert [report["file"] for report in document["reports"]] == sys.argv[2:]' "$OUT" "$sample" "$SAMPLES/pinned.xen"

run report --full -o "$WORK/out" "$sample"
status 0
check "output goes to the file" test -s "$WORK/out" -a ! -s "$OUT"
run report < "$sample"
status 2

# names of domains from the sidecar
cp "$sample" "$WORK/named.xen"
echo '{"cpu_khz": 2300000, "domains": [{"id": 1, "name": "burny"}]}' > "$WORK/named.xen.meta.json"
run report --full "$WORK/named.xen"
status 0
says "$OUT" "d1:burny: 2 vCPUs"
says "$OUT" "sidecar"

# one time in all units
for time in 0.03 30ms 30000us 30000µs 0.0005m; do
	run report -q -f json --from "$time" --to 1h "$sample"
	status 0
	[ "$time" = 0.03 ] && cp "$OUT" "$WORK/time"
	same "$OUT" "$WORK/time"
done
# relative times are those of the ends of the trace, in every command
for trace in credit2-basic.xen lost-records.xen kvm-host.dat; do
	run report -q -f json "$SAMPLES/$trace"
	read -r from to <<< "$(python3 -c 'import json, sys
begin, end = json.load(open(sys.argv[1]))["window_ns"]
print("%dns %dns" % (begin + 5 * 10**8, begin + (end - begin) * 375 // 1000))' "$OUT")"
	for command in "report -f json" "report" "report --waits" "plot -f csv" "why --worst 2" "top --once -f csv" \
			"check --max steal=1%" "dump -f csv"; do
		[[ $command$trace != dump*.dat ]] || continue
		# shellcheck disable=SC2086
		run $command -q --from "$from" --to "$to" "$SAMPLES/$trace"
		check "$command $trace" test "$STATUS" -lt 2 -a -s "$OUT"
		cp "$OUT" "$WORK/absolute"
		# shellcheck disable=SC2086
		run $command -q --from +500ms --to 37.5% "$SAMPLES/$trace"
		same "$OUT" "$WORK/absolute"
	done
done
for wrong in -10% +10% 101% +-1 %; do
	run report --from "$wrong" "$sample"
	status 2
done
run view -n --from 10% "$sample"
status 2
run record -d 10%
status 2
run report -f xml "$sample"
status 2
run report --full --from 2 --to 1 "$sample"
status 2
run report --full --from 100 "$sample"
status 2
says "$ERR" "outside the trace"
run report --full -o "$WORK/named.xen" "$WORK/named.xen"
status 2
says "$ERR" "is the trace itself"
run report --full "$WORK/none.xen"
status 3
run report --full -o "$WORK/none/out" "$sample"
status 3
finish
