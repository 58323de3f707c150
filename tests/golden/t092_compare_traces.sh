# SPDX-License-Identifier: LGPL-2.1-or-later
# compare with traces: the same numbers as report has, names of runs, plots.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

run compare --quiet hvm-exits.xen hvm-io.xen --statistic mean,p50,p99 --metric 'd1.*,trace.*'
status 1
golden t092_compare_traces "$OUT"

# as_report OPTION...: what compare measures is what report has
as_report()
{
	local sample

	run compare --quiet --format csv "$@" a=hvm-exits.xen b=credit2-basic.xen c=lost-records.xen
	cp "$OUT" "$WORK/compared"
	for sample in hvm-exits credit2-basic lost-records; do
		"$KSV_BIN" report --quiet --format json "$@" $sample.xen > "$WORK/$sample.json" || fail "report"
	done
	python3 "$WORK/judge.py" "$WORK/compared" "$WORK/hvm-exits.json" "$WORK/credit2-basic.json" \
		"$WORK/lost-records.json"
}
cat > "$WORK/judge.py" <<'END'
import csv, json, sys
rows = {(row["run"], row["metric"], row["statistic"]): row
        for row in csv.DictReader(open(sys.argv[1]))}
checked = 0


def near(a, b, limit=1e-9):
    global checked
    checked += 1
    assert abs(a - b) <= limit * max(abs(a), abs(b), 1), (a, b)


for run, path in zip("abc", sys.argv[2:]):
    report = json.load(open(path))
    window = report["window_ns"][1] - report["window_ns"][0]
    near(float(rows[run, "trace.records_per_s", "mean"]["value"]),
         report["volume"]["records"] * 1e9 / window)
    size = sum(item["bytes"] for item in report["volume"]["classes"].values())
    near(float(rows[run, "trace.bytes_per_s", "mean"]["value"]), size * 1e9 / window)
    for machine in report["machines"]:
        exits = [exit for vcpu in machine["vcpus"] for exit in vcpu["exits"]]
        row = rows.get((run, machine["machine"] + ".exit_cost_ns", "mean"))
        complete = sum(exit["complete"] for exit in exits)
        if complete:
            assert int(row["values"]) == complete
            near(float(row["value"]), sum(exit["total_ns"] for exit in exits) / complete)
        # waits whose beginning or end is not in the trace have no length
        for name, state in (("wake_latency_ns", "waking"), ("steal_ns", "preempted")):
            row = rows.get((run, machine["machine"] + "." + name, "mean"))
            waits = [vcpu["states"][state] for vcpu in machine["vcpus"]]
            count = sum(wait["complete"] for wait in waits)
            assert int(row["values"] if row else 0) == count, (row, count)
            means = [wait["mean_ns"] * wait["complete"] for wait in waits if "mean_ns" in wait]
            if count:
                near(float(row["value"]), sum(means) / count, 0.5 / float(row["value"]))
        if all(vcpu["known_ns"] == window for vcpu in machine["vcpus"]):
            # without unknown time, the mean over windows of equal length is that of the whole
            whole = window * len(machine["vcpus"])
            guest = sum(vcpu["states"]["guest"]["total_ns"] for vcpu in machine["vcpus"])
            near(float(rows[run, machine["machine"] + ".guest_percent", "mean"]["value"]),
                 100 * guest / whole, 1e-6)
assert checked > 8, checked
END
check "all of it" as_report
check "a window" as_report --from 0.5 --to 1.5
check "a part" as_report --from 20% --to 70%
check "some vCPUs" as_report --vcpu d1v0,d0v1
check "of a window" as_report --vcpu d1 --from +100ms
run compare -q a=hvm-exits.xen b=credit2-basic.xen --vcpu d1v9
status 2
says "$ERR" "hvm-exits.xen has no such vCPU or machine; it has d"
run compare -q hvm-exits.xen hvm-io.xen --from 2 --to 1
status 2
run compare -q hvm-exits.xen hvm-io.xen --from 100
status 2
says "$ERR" "lie outside the trace"
run compare -q --boot --vcpu d1 hvm-exits.xen hvm-io.xen
status 2

# A run of several traces has the values of all of them.
run compare --quiet --format csv --metric trace.records_per_s --statistic mean \
	old=pinned.xen new=migration.xen new=credit2-basic.xen
status 4
check "two traces" grep -q '^trace.records_per_s,new,mean,2,' "$OUT"
# A machine whose eight vCPUs are known for 68 years each: that is more than a 64-bit number of ns. All
# that time, two of them run and six are preempted.
python3 - "$WORK/far.xen" <<'END'
import struct, sys
RUN, PREEMPT = 0x21101, 0x21011
LATE = 0x1e << 56
with open(sys.argv[1], "wb") as out:
    for vcpu in range(8):
        events = [RUN, PREEMPT] * 8
        times = [10 ** 9 + i * 1000 for i in range(8)] + [LATE + i * 1000 for i in range(8)]
        if vcpu < 2:
            del events[7:9], times[7:9]
        records = b"".join(struct.pack("<IQI", 1 << 31 | 1 << 28 | event, time, 1 << 16 | vcpu)
                           for time, event in zip(times, events))
        out.write(struct.pack("<III", 2 << 28 | 0x1f003, vcpu, len(records)) + records)
END
run compare --quiet --format csv --cpu-hz 2300M --windows 1 --statistic mean pinned.xen "$WORK/far.xen"
check "far times" awk -F, -v far="$WORK/far.xen" '
	$2 == far && $1 == "d1.guest+hypervisor_percent" { guest = $5 }
	$2 == far && $1 == "d1.steal_percent" { steal = $5 }
	END { exit !(guest > 24.9 && guest < 25.1 && steal > 74.9 && steal < 75.1) }' "$OUT"
# Traces and results together.
run compare --quiet --format csv --statistic mean none=pinned.xen host=migration.xen \
	--values kvm-durations.csv --metric 'guest_s,trace.records_per_s' --runs none,host
check "both" test "$(grep -cE '^(guest_s|trace.records_per_s),(none|host),' "$OUT")" = 4

# The cost of a record: the work takes 10 % longer, and pinned.xen has r records per second and pCPU,
# so that each costs (1 - 1 / 1.1) / r s.
printf 'run,metric,value\nnone,work_s,1\nnone,work_s,1\ntraced,work_s,1.1\ntraced,work_s,1.1\n' \
	> "$WORK/work.csv"
run compare --quiet --values "$WORK/work.csv" traced=pinned.xen --runs none,traced \
	--record-cost work_s --metric work_s --statistic mean --format csv
status 1
check "cost of a record" awk -F, '
	$1 == "trace.records_per_pcpu_s" && $2 == "traced" { rate = $5 }
	$1 == "record_cost_ns" && $2 == "traced" { cost = $5; low = $6 }
	END {
		wanted = (1 - 1 / 1.1) / rate * 1e9
		exit !(rate > 0 && cost > wanted * 0.999999 && cost < wanted * 1.000001 &&
		       low > wanted * 0.999 && low < wanted * 1.001)
	}' "$OUT"
run compare --quiet --values "$WORK/work.csv" traced=pinned.xen --runs none,traced \
	--record-cost work_s --metric work_s --statistic mean
golden t092_compare_record_cost "$OUT"
run compare --quiet --values kvm-durations.csv host=pinned.xen --runs none,host,guest \
	--record-cost guest_s --metric guest_s --statistic mean
says "$OUT" "host: within noise, at most"
says "$OUT" "guest: no trace has the number of records"

for end in svg png pdf; do
	run compare --quiet --values kvm-durations.csv --runs none,host,guest,both \
		--plot "$WORK/plot.$end" --title "Durations"
	status 0
done
check "PNG" test "$(file -b --mime-type "$WORK/plot.png")" = image/png
check "PDF" test "$(file -b --mime-type "$WORK/plot.pdf")" = application/pdf
check "SVG: 7 bars, one of 8 has no values; all with intervals" python3 - "$WORK/plot.svg" <<'END'
import sys
import xml.etree.ElementTree as tree
groups = [e for e in tree.parse(sys.argv[1]).iter() if e.get("class") == "bar"]
assert len(groups) == 7, len(groups)
for group in groups:
    kinds = {e.get("class") for e in group.iter()}
    assert {"value", "interval"} <= kinds, kinds
END
run compare --quiet --values kvm-durations.csv --plot "$WORK/plot.jpeg"
status 2

finish
