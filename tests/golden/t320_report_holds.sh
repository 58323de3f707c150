# SPDX-License-Identifier: LGPL-2.1-or-later
# How long a cap of credit2 held a domain: what xenalyze prints of its runstates, in windows, and unknown without records; why, check and tables against the file.
. "$(dirname "$0")/lib.sh"
T=$SAMPLES/cases/credit2-cap.xen

# held ARGUMENT...: of d1, ns and times
held()
{
	run report -q -f json "$@" "$T"
	status 0
	python3 - "$OUT" << 'END'
import json, sys
by = {row["machine"]: (row["held_ns"], row["held"]) for row in json.load(open(sys.argv[1]))["steal"]["limits"]}
assert by["d0"] == by["d2"] == (0, 0), by
print(*by["d1"])
END
}

held > "$WORK/all"
# windows add up
for window in "--to 0.9" "--from 0.9 --to 1.7" "--from 1.7"; do
	held $window
done | awk '{ ns += $1; n += $2 } END { print ns, n }' > "$WORK/parts"
check "windows add up" cmp "$WORK/all" "$WORK/parts"
run report -q --full "$T"
status 0
says "$OUT" "held by its own limit"
run report -q -f json "$SAMPLES/saved.xen"
status 0
check "unknown without the scheduler's records" grep -q '"limits": null' "$OUT"
# what depends on it: why, the worst moments, tables and limits, against the records in the file
run why -q -f json --worst 9 --kind offline "$T"
status 0
cp "$OUT" "$WORK/why.json"
run report -q -f csv --worst 9 --kind offline "$T"
status 0
cp "$OUT" "$WORK/worst.csv"
run export -q -f csv-tables -o "$WORK/tables" "$T"
status 0
run check -q -f json --max held=0% --max held.count=0 --max held.max=0ns --max held.p50=0ns "$T"
status 1
cp "$OUT" "$WORK/check.json"
check "as the file's records have it" python3 "$GOLDEN/holds_oracle.py" "$T" 2596099705 "$WORK"
run why -q --worst 1 --kind offline "$T"
status 0
says "$OUT" "offline, held by its cap"
run check -q --max held=75% --max held.count=8 --max held.max=593ms "$T"
status 0
for unknown in saved.xen kvm-paused.dat; do
	run check -q --max held=1% "$SAMPLES/$unknown"
	status 4
	says "$OUT" "held=1%: unknown, as "
done
# a guest's warning in this time: three forms of its log, one verdict
line="watchdog: BUG: soft lockup - CPU#0 stuck for 1s! [burn:77]"
echo "[   12.500000] $line" > "$WORK/console.log"
echo "[   12.500000] d1 kernel: $line" > "$WORK/journal.log"
printf '{"_TRANSPORT":"kernel","_SOURCE_MONOTONIC_TIMESTAMP":"12500000","MESSAGE":"%s"}\n' "$line" > "$WORK/json.log"
for log in console journal json; do
	run why -q -f json --guest-log "d1:$WORK/$log.log" --log-offset d1:-10 "$T"
	status 0
	cp "$OUT" "$WORK/$log.verdict"
done
check "out of quota" python3 - "$WORK" << 'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/tables/interval.csv")))
held = sum(min(int(row["end_ns"]), 2500000000) - max(int(row["start_ns"]), 1500000000) for row in rows
           if row["held_ns"] not in ("", "0") and int(row["end_ns"]) > 1500000000 and int(row["start_ns"]) < 2500000000)
for log in "console", "journal", "json":
    answer, = json.load(open(f"{sys.argv[1]}/{log}.verdict"))["answers"]
    assert (answer["verdict"], answer["largest_part"], answer["time_ns"]) == ("host", "limit", 2500000000), answer
    assert answer["parts"]["limit_ns"] == held > 500000000, (answer["parts"], held)
END
# A part that was cut during a hold knows it, and parts put together do.
run split --from 0.3s --to 1.2s --output "$WORK/a.xen" "$T"
status 0
run split --from 1.2s --to 2s --output "$WORK/b.xen" "$T"
status 0
run merge --output "$WORK/ab.xen" "$WORK/a.xen" "$WORK/b.xen"
status 0
for part in "0.3s 1.2s a" "1.2s 2s b" "0.3s 2s ab"; do
	set -- $part
	run report --quiet --format json --from "$1" --to "$2" "$T"
	cp "$OUT" "$WORK/whole.json"
	run report --quiet --format json "$WORK/$3.xen"
	check "holds in the part $3 are those of the whole" python3 - "$WORK/whole.json" "$OUT" << 'END'
import json, sys
def limits(value):
    if isinstance(value, list):
        return [found for inner in value for found in limits(inner)]
    if not isinstance(value, dict):
        return []
    return [value["limits"]] if "limits" in value else limits(list(value.values()))
whole, part = (limits(json.load(open(name))) for name in sys.argv[1:])
assert whole == part and any(row["held_ns"] > 0 for rows in whole for row in rows), (whole, part)
END
done
if command -v xenalyze > /dev/null; then
	xenalyze --cpu-hz 2596099705 --dump-all "$T" > "$WORK/dump" 2> /dev/null
	check "as long as xenalyze shows it offline" python3 - "$WORK/dump" $(cat "$WORK/all") << 'END'
import re, sys
begin, end, total, n = None, 0, 0, 0
for line in open(sys.argv[1], errors="replace"):
    time = re.match(r" *(\d+)\.(\d{9}) ", line)
    if not time:
        continue
    now = int(time[1]) * 10**9 + int(time[2])
    end = max(end, now)
    if "runstate_change d1v0 running->offline" in line:
        begin, n = now, n + 1
    elif begin is not None and "runstate_change d1v0 offline->" in line:
        total, begin = total + now - begin, None
total += end - begin if begin is not None else 0
held, times = map(int, sys.argv[2:])
assert n == times and n > 5, (n, times)
# it rounds the length of a cycle: its times are 153 ppm longer
assert abs(held * 1.000153 - total) < total / 100000 + 1000, (held, total)
print(f"{n} times, {total} ns")
END
fi
finish
