# SPDX-License-Identifier: LGPL-2.1-or-later
# report --tracing: volume, cost and buffers, computed anew from the records.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

run report --quiet --tracing --record-cost 150 lost-records.xen
status 0
golden t094_tracing "$OUT"
run report --quiet --tracing hvm-exits.xen
status 0
check "no cost is made up" test "$(grep -c 'of the time' "$OUT")" = 0

# what guests write themselves is a class of its own
python3 "$KSV_SOURCE_DIR/tests/golden/xen_less.py" hvm-exits.xen "$WORK/guest.xen" \
	'0x0800f123 if event >> 12 == 0x82 else True'
for file in hvm-exits.xen "$WORK/guest.xen"; do
	run report --quiet --tracing --format csv "$file"
	status 0
	cut -d, -f2-5 "$OUT" >"$WORK/$(basename "$file").csv"
done
sed -i 's/,hvm.handler,/,guest,/' "$WORK/hvm-exits.xen.csv"
check "records of guests" diff <(grep ,guest, "$WORK/hvm-exits.xen.csv") \
	<(grep ,guest, "$WORK/guest.xen.csv")
check "there are some" grep -q ,guest, "$WORK/guest.xen.csv"

for sample in lost-records hvm-exits; do
	run report --quiet --tracing --record-cost 150 --format json --from 0.5 --to 2.5 $sample.xen
	status 0
	cp "$OUT" "$WORK/tracing.json"
	run report --quiet --tracing --record-cost 150 --format csv --from 0.5 --to 2.5 $sample.xen
	status 0
	cp "$OUT" "$WORK/tracing.csv"
	run dump --quiet --format csv --from 0.5 --to 2.5 $sample.xen
	check "$sample: as dump has it" python3 - "$WORK/tracing.json" "$WORK/tracing.csv" \
		"$OUT" <<'END'
import collections, csv, json, math, sys
tracing = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2])))
records = collections.Counter()
with open(sys.argv[3]) as dump:
    for row in csv.DictReader(dump):
        records[int(row["pcpu"])] += 1
seconds = (tracing["window_ns"][1] - tracing["window_ns"][0]) / 1e9
assert seconds == 2
volume = {(item.get("pcpu"), item["class"]): item for item in tracing["volume"]}
n_pcpus = len(tracing["buffers"]["pcpus"])
for pcpu in list(records) + [None]:
    total = volume[pcpu, "all"]
    wanted = sum(records.values()) if pcpu is None else records[pcpu]
    assert total["records"] == wanted, (pcpu, total, wanted)
    for key in ("records", "bytes"):
        assert total[key] == sum(item[key] for (p, name), item in volume.items()
                                 if p == pcpu and name != "all"), pcpu
        assert math.isclose(total[key + "_per_s"], total[key] / seconds, rel_tol=1e-9)
    time = 2e9 * (n_pcpus if pcpu is None else 1)
    assert math.isclose(total["time_percent"], 100 * total["records"] * 150 / time, rel_tol=1e-9)
most = 0
for buffer in tracing["buffers"]["pcpus"]:
    size = volume.get((buffer["pcpu"], "all"), {"bytes": 0})["bytes"]
    # at least the average of two polls, at most all
    assert size * 0.2 / seconds <= buffer["bytes"] <= size or not size
    assert buffer["pages"] == (math.ceil(buffer["bytes"] / 4096) + 1 if size else 0)
    most = max(most, buffer["pages"])
assert tracing["buffers"]["pages"] == most
off = tracing["switch_off"]
assert {item["class"] for item in off} | {"gen", "all"} >= {name for _, name in volume}
assert [bool(item.get("without")) for item in off] == \
    sorted(bool(item.get("without")) for item in off)
for item in off:
    assert math.isclose(item["share_percent"], 100 * item["records"] / volume[None, "all"]["records"],
                        rel_tol=1e-9)
assert len(rows) == len(tracing["volume"])
for row, item in zip(rows, tracing["volume"]):
    assert row["pcpu"] == str(item.get("pcpu", "")) and row["class"] == item["class"]
    assert int(row["records"]) == item["records"] and int(row["bytes"]) == item["bytes"]
END
done

finish
