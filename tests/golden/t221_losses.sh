# SPDX-License-Identifier: LGPL-2.1-or-later
# A loss belongs to the window in which it begins, also if it has no length: report, top, rollup and check
# count the same, and windows side by side add up to all of it.
. "$(dirname "$0")/lib.sh"

for file in lost-at-0 lost-begin; do
	run check -q --max lost.count=0 "$SAMPLES/cases/$file.xen"
	status 1
	run check -q --max lost.count=1 "$SAMPLES/cases/$file.xen"
	status 0
	run report -q --format json "$SAMPLES/cases/$file.xen"
		check "$file: 66 records" grep -q '"records": 66,' "$OUT"
done

trace=$SAMPLES/lost-records.xen
run top -q -f csv --interval 1s "$trace"
cp "$OUT" "$WORK/top"
run rollup -q --host here --start-time 1970-01-01T00:00:00Z --interval 1s "$trace"
cp "$OUT" "$WORK/rollup"
n=0
for from in 0 1 2 3 4 5; do
	run report -q --from ${from}s --to $((from + 1))s --format json "$trace"
	cp "$OUT" "$WORK/report$from"
	run check -q --from ${from}s --to $((from + 1))s --max lost.count=0 --format json "$trace"
	cp "$OUT" "$WORK/check$from"
done
run report -q --format json "$trace"
cp "$OUT" "$WORK/all"
checks=$((checks + 1))
python3 - "$WORK" <<'END' || fail "not the same number of lost records everywhere"
import csv, json, sys
work, wrong, everything = sys.argv[1], 0, 0
lost = lambda name: json.load(open("%s/%s" % (work, name)))["lost"]
for i in range(6):
    windows = lost("report%d" % i)["windows"]
    counts = {"report": lost("report%d" % i)["records"], "list": sum(w["records"] for w in windows)}
    for tool in "top", "rollup":
        counts[tool] = sum(int(row["count"] or 0) for row in csv.DictReader(open("%s/%s" % (work, tool)))
                           if row.get("section", row.get("kind")) == "lost" and
                           int(row.get("from_ns") or row["time_ns"]) // 10**9 == i)
    check = json.load(open("%s/check%d" % (work, i)))
    number = check["limits"][0]["value"] if "limits" in check else None
    wrong += len(set(counts.values())) > 1
    print(i, counts, len(windows), number)
    wrong += number is not None and number != len(windows)
    everything += counts["report"]
print(everything, lost("all")["records"])
sys.exit(bool(wrong) or everything != lost("all")["records"])
END
finish
