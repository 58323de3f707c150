# SPDX-License-Identifier: LGPL-2.1-or-later
# Intervals of top: of all samples, their sums are those of report for the whole.
. "$(dirname "$0")/lib.sh"

SUMS=$KSV_SOURCE_DIR/tests/golden/top_sums.py

# sums_are_report INTERVAL FILE OPTION...
sums_are_report()
{
	local interval=$1 file=$2 format
	shift 2

	run report --quiet --format json "$@" "$file"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/report.json"
	for format in json csv openmetrics; do
		run top --quiet --format $format --interval "$interval" "$@" "$file"
		status 0
		check "stderr is empty" test ! -s "$ERR"
		cp "$OUT" "$WORK/top.$format"
	done
	check "$file $* by $interval is report's" python3 "$SUMS" "$WORK/report.json" \
		"$WORK/top.json" "$WORK/top.csv" "$WORK/top.openmetrics" > "$WORK/compared"
	read -r n intervals < "$WORK/compared"
	[[ $n =~ ^[0-9]+$ ]] || return 0
	compared=$((compared + n))
	cut=$((cut + (intervals > 2)))
}

compared=0
found=0
cut=0
mapfile -t samples < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.xen.gz "$SAMPLES"/*.dat)
for sample in "${samples[@]}"; do
	if sums_are_report 37ms "$sample"; then
		found=$((found + 1))
		continue
	fi
	# of guests alone there is nothing
	run top -q "$sample"
	status 3
done
check "there are samples ($found)" test "$found" -ge "$(least 25)"
check "in several intervals ($cut)" test "$cut" -ge "$(least 20)"
check "there are numbers ($compared)" test "$compared" -ge "$(least 2000)"
sums_are_report 7ms "$SAMPLES/kvm-host.dat" --from 1793.3 --to 1793.7 || fail "no report"
sums_are_report 123457ns "$SAMPLES/hvm-exits.xen" --from 10ms --to 25ms || fail "no report"
sums_are_report 300ms "$SAMPLES/credit2-basic.xen" --from 1 --to 2 --vcpu d1 || fail "no report"
sums_are_report 5 "$SAMPLES/lost-records.xen" || fail "no report"

# One interval, whichever way it is asked for.
run top -q -f csv --once --interval 100ms --from 1793.3 "$SAMPLES/kvm-host.dat"
status 0
cp "$OUT" "$WORK/once"
run top -q -f csv --from 1793.3 --to 1793.4 "$SAMPLES/kvm-host.dat"
same "$OUT" "$WORK/once"
run top -q -f openmetrics --once --interval 100ms --from 1793.3 "$SAMPLES/kvm-host.dat"
cp "$OUT" "$WORK/once"
run top -q -f openmetrics --from 1793.3 --to 1793.4 "$SAMPLES/kvm-host.dat"
same "$OUT" "$WORK/once"

# What VM exits were for: intervals add up to report --exits, and all the rest is as without the option.
cat > "$WORK/arguments.py" << 'END'
import collections, csv, json, re, sys
page, top, rows, metrics, plain = sys.argv[1:]
wanted = collections.Counter()
for vcpu in json.load(open(page))["vcpus"]:
    for exit in vcpu["exits"] if vcpu["vcpu"] != "all" else []:
        for part in exit.get("arguments", []):
            cause = part["cause"] + ":" if "causes" in exit else ""
            cost = part["cost"] or {"count": 0}
            key = vcpu["vcpu"], exit["reason"] + ":" + cause + part["argument"]
            wanted[(*key, "count")] += part["count"]
            wanted[(*key, "complete")] += cost["count"]
            wanted[(*key, "ns")] += cost.get("total_ns", 0)
wanted = +wanted
found, more = collections.Counter(), collections.Counter()
intervals = json.load(open(top))["intervals"]
for interval in intervals:
    for fact in interval["facts"]:
        if fact["section"] == "exit_arguments":
            for value in "count", "complete", "ns":
                found[fact["vcpu"], fact["name"], value] += fact.get(value) or 0
    interval["facts"] = [fact for fact in interval["facts"] if fact["section"] != "exit_arguments"]
assert +found == wanted, (found - wanted, wanted - found)
assert intervals == json.load(open(plain))["intervals"]
for row in csv.DictReader(open(rows, newline="")):
    if row["section"] == "exit_arguments":
        for value in "count", "complete", "ns":
            more[row["vcpu"], row["name"], value] += int(row[value] or 0)
assert +more == wanted
counts = re.findall(r'^kshark_virt_exit_arguments_total{.*vcpu="([^"]*)".*,exit="([^"]*)"} (\d+)$', open(metrics).read(), re.M)
assert {(vcpu, name): int(n) for vcpu, name, n in counts} == \
    {key[:2]: n for key, n in wanted.items() if key[2] == "count"}
print(len(wanted))
END
for sample in kvm-host.dat kvm-memory.dat hvm-io.xen; do
	run report -q --exits -f json "$SAMPLES/$sample"
	cp "$OUT" "$WORK/exits.json"
	for format in json csv openmetrics; do
		run top -q --exits --interval 370ms -f $format "$SAMPLES/$sample"
		status 0
		cp "$OUT" "$WORK/exits.$format.top"
	done
	run top -q --interval 370ms -f json "$SAMPLES/$sample"
	check "top --exits $sample is report's" python3 "$WORK/arguments.py" "$WORK/exits.json" \
		"$WORK/exits.json.top" "$WORK/exits.csv.top" "$WORK/exits.openmetrics.top" "$OUT"
done
run top -q --exits --once --interval 1s "$SAMPLES/kvm-host.dat"
golden t131_top_exits "$OUT"
run top --exits - < /dev/null
status 2
says "$ERR" '--exits requires a complete trace'

run top -q --interval 500ms "$SAMPLES/credit2-basic.xen"
status 0
golden t131_top "$OUT"

# What is wrong. Without a file it is this host that is meant, of which there is nothing here.
KSHARK_VIRT_ROOT=$WORK/nowhere run top
status 3
run top "$SAMPLES/pinned.xen" "$SAMPLES/saved.xen"
status 2
for interval in 0 tsc:5 1x; do
	run top --interval $interval "$SAMPLES/pinned.xen"
	status 2
done
run top --interval 1ns "$SAMPLES/pinned.xen"
status 2
says "$ERR" 'with losses are too many: for '
# times that are farther apart than a time can be
python3 "$GOLDEN/scale_files.py" xen_far_times 50 "$WORK/far.xen" > "$WORK/n"
run top --quiet --cpu-hz 1G "$WORK/far.xen"
status 2
says "$ERR" 'with losses are too many: for '
run top --quiet --cpu-hz 1G --format openmetrics "$WORK/far.xen"
status 0
# a few kilobytes must not ask for a file of 460 GB: very many vCPUs, and a very long time
python3 "$GOLDEN/long_and_wide.py" 1000 "$WORK/wide.xen"
run top --quiet --format csv --cpu-hz 1G -o "$WORK/wide.csv" "$WORK/wide.xen"
status 2
says "$ERR" 'intervals of 1001 machines, vCPUs and pCPUs with losses are too many'
check "nothing is written" test ! -e "$WORK/wide.csv"
run top --quiet --format csv --cpu-hz 1G --vcpu d1v0 --interval 10000 "$WORK/wide.xen"
status 0
# the finest intervals of a small file: rows of what is there alone, and time for these alone
python3 "$GOLDEN/long_and_wide.py" 1 "$WORK/fine.xen" 32767
for format in csv:350 json:850; do
	(ulimit -t 10; "$KSV_BIN" top -qf ${format%:*} --cpu-hz 1G --interval 20 "$WORK/fine.xen" > "$OUT")
	check "some bytes for each of 49950 intervals" test $? = 0 -a "$(stat -c %s "$OUT")" -lt $((49950 * ${format#*:}))
done
check "states without time have no rows" python3 -c '
import json, sys
facts = [fact for interval in json.load(open(sys.argv[1]))["intervals"] for fact in interval["facts"]]
assert len(facts) > 49950 and all(fact["ns"] != 0 or fact["count"] != 0 for fact in facts if "state" in fact["section"])' "$OUT"
run top --from 9000 "$SAMPLES/pinned.xen"
status 2
run top "$SAMPLES/README.md"
status 3
echo old > "$WORK/file"
(
	ulimit -f 8
	"$KSV_BIN" top -q -f csv --interval 1ms -o "$WORK/file" "$SAMPLES/credit2-basic.xen" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
check "nothing has changed" test "$(cat "$WORK/file")" = old

# Names of others: quotes, line ends.
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for domain in meta["domains"]:
    domain["name"] = "a,\"b'c\nd\\"
json.dump(meta, open(sys.argv[2], "w"))
END
sums_are_report 50ms "$WORK/odd.xen" || fail "no report"
check "a name is a label" grep -qF 'machine="d0:a,\"b'"'"'c\\x0ad\\\\"' "$WORK/top.openmetrics"

finish
