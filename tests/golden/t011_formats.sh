# SPDX-License-Identifier: LGPL-2.1-or-later
# Text, CSV and JSON must have the same contents, and readers must be able to read them.
. "$(dirname "$0")/lib.sh"

for name in credit2-basic hvm-exits lost-records; do
	for format in text csv json; do
		run dump --quiet --format "$format" "$SAMPLES/$name.xen"
		status 0
		check "stderr is empty" test ! -s "$ERR"
		mv "$OUT" "$WORK/$format"
	done
	check "header" test "$(head -1 "$WORK/csv")" = \
		"tsc,time_ns,pcpu,domid,vcpu,event_id,event,info"
	check "$name: text, csv and json agree" \
		python3 - "$WORK/text" "$WORK/csv" "$WORK/json" << 'END'
import csv, json, re, sys

LINE = re.compile(r"^ *(\S+) \[(\d{3,})\] +(-?\d+)\.(\d{9}): (\S+):(?: +(.*))?$")
INTS = ("tsc", "time_ns", "pcpu", "domid", "vcpu")
keys = list(INTS) + ["event_id", "event", "info"]
n = 0
last = -1
text = open(sys.argv[1])
objects = open(sys.argv[3])
for row in csv.DictReader(open(sys.argv[2], newline="")):
    assert list(row) == keys and None not in row.values(), row
    line = text.readline().rstrip("\n")
    task, pcpu, seconds, ns, event, info = LINE.match(line).groups()
    entry = json.loads(objects.readline())
    fields = entry.pop("fields")
    assert entry.pop("version") == 1
    assert list(entry) == keys
    for key in INTS:
        assert entry[key] == (int(row[key]) if row[key] else None), (key, row, entry)
    for key in ("event_id", "event", "info"):
        assert entry[key] == row[key], (key, row, entry)
    assert re.match(r"0x[0-9a-f]{8}$", row["event_id"])
    assert (task == "d?v?") == (row["domid"] == "") == (row["vcpu"] == "")
    if row["domid"] == "32767":
        assert task == "idle"
    elif row["domid"]:
        assert task == "d%sv%s" % (row["domid"], row["vcpu"])
    assert int(pcpu) == entry["pcpu"] and event == entry["event"]
    assert int(seconds + ns) == entry["time_ns"] and (info or "") == entry["info"]
    assert all(isinstance(value, int) for value in fields.values()), fields
    assert entry["tsc"] >= last
    last = entry["tsc"]
    n += 1
assert n > 40000 and not text.read() and not objects.read()
END
done

# A 64-bit field is exact in JSON: first_tsc lies just before the record's own TSC.
run dump --quiet --format json --event lost_records "$SAMPLES/lost-records.xen"
status 0
check "117 lost_records, 22338 records in all, exact first_tsc" python3 - "$OUT" << 'END'
import json, sys

rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) == 117, len(rows)
assert sum(row["fields"]["lost_records"] for row in rows) == 22338
assert all(2**35 < row["fields"]["first_tsc"] <= row["tsc"] for row in rows)
END

# With a sidecar, names of domains in the text, and its frequency.
cp "$SAMPLES/pinned.xen" "$WORK/trace.xen"
echo '{ "cpu_khz": 1000000, "domains": [ { "id": 1, "name": "fixed, \"one\"" } ] }' \
	> "$WORK/trace.xen.meta.json"
run dump --quiet --vcpu d1v1 "$WORK/trace.xen"
status 0
says "$OUT" 'd1v1:fixed, "one" [003]'
run dump --quiet --format csv "$WORK/trace.xen"
check "the sidecar's frequency" \
	awk -F, 'NR == 2 { first = $1 } NR > 1 && $2 != $1 - first { exit 1 }' "$OUT"

finish
