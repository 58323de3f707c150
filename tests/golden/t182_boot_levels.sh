# SPDX-License-Identifier: LGPL-2.1-or-later
# Levels and initcalls of two real boots, by the guests' own traces: in numbers, drawn, and compared; recounted from what
# trace-cmd says.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "$TEST: no trace-cmd here"
	exit 77
fi
quiet=$SAMPLES/kvm-boot.dat
loud=$SAMPLES/kvm-boot-loud.dat
run report --quiet --boot --kallsyms "$SAMPLES/kvm-boot.kallsyms" "$quiet" "$SAMPLES/kvm-boot-g1.dat"
status 0
# initcalls are 747 lines more
grep -vE '^    [A-Za-z0-9_]+ +g1v[01] ' "$OUT" > "$WORK/head"
grep -E '^    (console|early|pure|core|postcore|arch|subsys|fs|device|late|acpi_init|pty_init) +g1v' "$OUT" >> "$WORK/head"
golden t182_boot_levels "$WORK/head"

for way in kvm-boot kvm-boot-loud; do
	run report --quiet --format json --boot "$SAMPLES/$way.dat" "$SAMPLES/$way-g1.dat"
	status 0
	cp "$OUT" "$WORK/$way.json"
	trace-cmd report -t -i "$SAMPLES/$way.dat" > "$WORK/host" 2> /dev/null
	trace-cmd report -t -i "$SAMPLES/$way-g1.dat" > "$WORK/guest" 2> /dev/null
	check "$way: recounted" python3 - "$OUT" "$WORK/host" "$WORK/guest" "$SAMPLES/$way-g1.dat.meta.json" <<'END'
import bisect
import json
import re
import sys
report = json.load(open(sys.argv[1]))
alignment = json.load(open(sys.argv[4]))["alignment"]
assert not alignment["drift_ppm"]
LINE = re.compile(r"-(\d+)\s+\[(\d+)\].*?(\d+)\.(\d{9}): +(\w+): *(.*)$")


def lines(path):
    for line in open(path, errors="replace"):
        m = LINE.search(line)
        if m:
            yield int(m[1]), int(m[2]), int(m[3]) * 10**9 + int(m[4]), m[5], m[6]


tids = {v["guest_cpu"]: v["tid"] for v in alignment["vcpus"]}
exits = {tid: [] for tid in tids.values()}
for tid, _, time, event, info in lines(sys.argv[2]):
    if event == "kvm_exit" and tid in exits:
        exits[tid].append(time)
levels, calls = [], []
for _, cpu, time, event, info in lines(sys.argv[3]):
    time += alignment["offset"]
    if event == "initcall_level":
        levels.append((info.split("=")[1], time, cpu))
    elif event == "initcall_start":
        start = time
    elif event == "initcall_finish":
        calls.append((start, time))
(boot,) = report["boot"]
assert boot["source"] == "trace"
reported = [s for s in boot["stages"] if s["kind"] == "level"]
assert [(s["name"], s["from_ns"], int(s["vcpu"][-1])) for s in reported] == levels and len(levels) == 10
for stage, following in zip(reported, reported[1:] + [None]):
    assert stage["end_known"] == (following is not None)
    assert not following or stage["to_ns"] == following["from_ns"]
    assert stage["unknown_ns"] == 0 and 0 < stage["true_ns"] < stage["to_ns"] - stage["from_ns"]
    times = sorted(exits[tids[int(stage["vcpu"][-1])]])
    assert stage["exits"] == bisect.bisect_left(times, stage["to_ns"]) - \
        bisect.bisect_left(times, stage["from_ns"]), stage
inits = [(s["from_ns"], s["to_ns"]) for s in boot["stages"] if s["kind"] == "initcall"]
begin, end = report["window_ns"]
assert inits == [(a, min(b, end)) for a, b in sorted(calls) if a < end], (len(inits), len(calls))
END
	# the figure's numbers are the report's
	run plot --quiet --boot --format csv "$SAMPLES/$way.dat" "$SAMPLES/$way-g1.dat"
	status 0
	check "$way: drawn is what is reported" python3 - "$OUT" "$WORK/$way.json" <<'END'
import csv
import json
import sys
drawn = list(csv.DictReader(open(sys.argv[1])))
reported = json.load(open(sys.argv[2]))["boot"][0]["stages"]
assert len(drawn) == len(reported) > 700
for row, stage in zip(drawn, reported):
    assert (row["kind"], row["name"], row["vcpu"]) == (stage["kind"], stage["name"], stage["vcpu"])
    for name in ("from_ns", "to_ns", "true_ns", "exits", "exits_ns"):
        assert int(row[name]) == stage[name], (row, stage)
END
done
run plot --quiet --boot --kallsyms "$SAMPLES/kvm-boot.kallsyms" -o "$WORK/boot.svg" "$quiet" "$SAMPLES/kvm-boot-g1.dat"
status 0
says "$WORK/boot.svg" '<title>subsys on g1v0: 373.026 ms, guest 309.514 ms, 172 exits, 0 hypercalls</title>'
says "$WORK/boot.svg" '<title>acpi_init on g1v0: 112.5'
run plot --boot "$quiet"
status 2
says "$ERR" 'no shown guest has phases or levels of its boot in this window'

# Two boots: what was said on the console is in exits of the level that is called so, and the numbers are the reports'.
run compare --quiet --boot --format json --statistic p50 quiet="$quiet" loud="$loud" \
	"$SAMPLES/kvm-boot-g1.dat" "$SAMPLES/kvm-boot-loud-g1.dat"
cp "$OUT" "$WORK/compared"
check "compared is what is reported" python3 - "$WORK/compared" "$WORK/kvm-boot.json" "$WORK/kvm-boot-loud.json" <<'END'
import json
import sys
compared = json.load(open(sys.argv[1]))
reported = [{s["name"]: s for s in json.load(open(path))["boot"][0]["stages"] if s["kind"] == "level" and s["end_known"]}
            for path in sys.argv[2:4]]
n = 0
for metric in compared["metrics"]:
    level, what = metric["metric"].split(".boot_")[1].split("_", 1)
    assert [run["run"] for run in metric["statistics"]] == ["quiet", "loud"]
    for stages, run in zip(reported, metric["statistics"]):
        stage = stages[level]
        wanted = {"ns": stage["to_ns"] - stage["from_ns"], "true_ns": stage["true_ns"],
                  "exits": stage["exits"], "exits_ns": stage["exits_ns"]}[what]
        assert (run["statistic"], run["value"]) == ("p50", wanted), (metric["metric"], run, wanted)
        n += 1
assert n == 2 * 4 * 9, n
reasons = [{r["reason"]: r["count"] for r in stages["console"]["reasons"]} for stages in reported]
assert reasons[0].get("IOIO", 0) < 50 and reasons[1]["IOIO"] == 10215, reasons
END
# a guest's trace that belongs to none of the hosts is an error, not a run
run compare --quiet --boot quiet="$quiet" loud="$loud" "$SAMPLES/kvm-ptp-g1.dat"
status 3
says "$ERR" "no other file is its host's trace"
finish
