# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt merge: parts of a trace, put together, show what the whole one shows, byte for byte;
# recordings that follow each other are one, with what is between them unknown; what does not belong
# together is refused.
. "$(dirname "$0")/lib.sh"

traces=("$SAMPLES"/*.xen "$SAMPLES"/domU.xen.gz)
sanitized && traces=("$SAMPLES/hvm-exits.xen" "$SAMPLES/sched-null.xen")
python3 - "$SAMPLES" "$WORK" << 'END'
import random, sys
samples, folder = sys.argv[1:]
rng = random.Random(151)
for name in ("hvm-exits", "lost-records"):
    data = open("%s/%s.xen" % (samples, name), "rb").read()
    damaged = bytearray(data[:len(data) * 3 // 4 + 7])
    for _ in range(5):
        at, n = rng.randrange(len(damaged) - 5000), rng.randrange(8, 3000)
        damaged[at:at + n] = rng.randbytes(n)
    open("%s/damaged-%s.xen" % (folder, name), "wb").write(damaged)
END
# records are lost several times at one time
python3 - "$GOLDEN" "$WORK/damaged-twice.xen" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
from scale_files import BLOCKED, LOST_RECORDS, RUNNING, Xen, change, vcpu
xen = Xen(step=1000000)
for i in range(200):
    pcpu = i // 40 % 2
    if i % 40 == 0:
        xen.at(pcpu)
    xen.add(change(BLOCKED, RUNNING) if i % 2 == 0 else change(RUNNING, BLOCKED), vcpu(pcpu))
    if i % 40 == 20:
        xen.step = 0
        for _ in range(3):
            xen.add(LOST_RECORDS, 7, 1, xen.tsc & 0xffffffff, xen.tsc >> 32)
        xen.step = 1000000
open(sys.argv[2], "wb").write(xen.data())
END
check "parts put together" python3 "$GOLDEN/merge_pieces.py" "$WORK" 151 "${traces[@]}" \
	"$WORK"/damaged-*.xen

# Recordings: the same bytes without sidecars. All records are there; of each, what it shows alone,
# away from its ends; of what lies between, nothing. pCPUs beside each other lose nothing, once all are
# there.
cd "$WORK" || exit 1
cp "$SAMPLES/hvm-exits.xen" whole.xen
"$KSV_BIN" split -q --to 1 -o first.xen whole.xen
"$KSV_BIN" split -q --from 1.5 --to 2 -o second.xen whole.xen
"$KSV_BIN" split -q --pcpu 0-1 -o p01.xen whole.xen
"$KSV_BIN" split -q --pcpu 2-3 -o p23.xen whole.xen
rm ./*.meta.json
run merge -q -o both.xen second.xen first.xen
status 0
run report -q -f json --cpu-hz 2.3G both.xen
cp "$OUT" both.json
for file in whole first second; do
	run dump -q -f csv --cpu-hz 2.3G "$file.xen"
	cut -d, -f1,3,6- "$OUT" > "$file.csv"
done
run dump -q -f csv --cpu-hz 2.3G both.xen
cut -d, -f1,3,6- "$OUT" > both.csv
(cat first.csv; tail -n +2 second.csv) > expected.csv
same expected.csv both.csv
check "what is between is lost" python3 - both.json first.csv second.csv << 'END'
import csv, json, sys
report = json.load(open(sys.argv[1]))
a, b = (list(csv.reader(open(f)))[1:] for f in sys.argv[2:])
zero = int(a[0][0])
ns = lambda tsc: (tsc - zero) * 10 ** 9 // 2300000000
for pcpu in report["lost"]["windows"]:
    last = max(int(r[0]) for r in a if int(r[1]) == pcpu["pcpu"])
    next_one = min(int(r[0]) for r in b if int(r[1]) == pcpu["pcpu"])
    assert (pcpu["from_ns"], pcpu["to_ns"]) == (ns(last), ns(next_one)), pcpu
assert len(report["lost"]["windows"]) == 4
END
run report -q -f json --cpu-hz 2.3G --from 100ms --to 900ms both.xen
sed 's/both.xen/X/' "$OUT" > a.json
run report -q -f json --cpu-hz 2.3G --from 100ms --to 900ms first.xen
sed 's/first.xen/X/' "$OUT" > b.json
check "the first one is as it was" python3 - a.json b.json << 'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
# a pCPU that says nothing more is not known to be silent any more: d1v0 and d1v1 go on to 0.9 s
for m, n in zip(a["machines"], b["machines"]):
    for v, w in zip(m["vcpus"], n["vcpus"]):
        for state, d in v["states"].items():
            e = w["states"].get(state)
            assert e is None or d["total_ns"] <= e["total_ns"] or state == "unknown", (v["vcpu"], state)
assert sum(p["busy_ns"] for p in a["pcpus"]) >= 0.9 * sum(p["busy_ns"] for p in b["pcpus"])
END
run merge -q -o beside.xen p23.xen p01.xen
status 0
run report -q -f json --from 10ms beside.xen
sed -E 's/beside.xen/X/; s/, "before_ns": [0-9]+//g' "$OUT" > a.json
run report -q -f json --from 10ms whole.xen
sed -E 's/whole.xen/X/; s/, "before_ns": [0-9]+//g' "$OUT" > b.json
same a.json b.json

# The contents of sidecars are put together.
cat > first.xen.meta.json << 'END'
{ "cpu_khz": 2300000, "domains": [ { "id": 1, "name": "web",
	"vcpus": [ { "id": 0, "begin": { "pcpu": 2 }, "end": { "pcpu": 2 } } ] } ] }
END
cat > second.xen.meta.json << 'END'
{ "scheduler": "credit2", "end": { "tsc": 5 }, "domains": [ { "id": 1, "name": "other",
	"vcpus": [ { "id": 0, "end": { "pcpu": 3 } } ] }, { "id": 2, "name": "\u001b[31m\n\"" } ] }
END
run merge -q -o both.xen first.xen second.xen
status 0
check "sidecars" python3 - both.xen.meta.json << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
part = meta.pop("part")
assert meta == {"cpu_khz": 2300000, "scheduler": "credit2", "end": {"tsc": 5}, "domains": [
    {"id": 1, "name": "web", "vcpus": [{"id": 0, "begin": {"pcpu": 2}, "end": {"pcpu": 3}}]},
    {"id": 2, "name": "\x1b[31m\n\""}]}, meta
assert len(part["gaps"]) == 4 and "clock" not in part
END

# What does not belong together.
rm ./*.meta.json
"$KSV_BIN" split -q --to 1 -o a.xen whole.xen
"$KSV_BIN" split -q --from 1 --to 2 -o b.xen whole.xen
"$KSV_BIN" split -q --from 0.5 --to 1.5 -o c.xen whole.xen
"$KSV_BIN" split -q --from 1 --to 2 --pcpu 0,1 -o d.xen whole.xen
"$KSV_BIN" split -q --from 1 --to 2 --pcpu 1-3 -o e.xen whole.xen
"$KSV_BIN" split -q --to 1 -o f.xen "$SAMPLES/pinned.xen"
refuse 2 merge -o x.xen a.xen
refuse 2 merge a.xen b.xen
refuse 2 merge -o a.xen a.xen b.xen
refuse 2 merge -o - a.xen b.xen
refuse 3 merge -o x.xen a.xen a.xen
refuse 3 merge -o x.xen a.xen b.xen c.xen
refuse 3 merge -o x.xen a.xen d.xen
refuse 3 merge -o x.xen e.xen d.xen
refuse 3 merge -o x.xen a.xen f.xen
refuse 3 merge -o x.xen a.xen second.xen
refuse 3 merge -o x.xen first.xen whole.xen
refuse 3 merge -o x.xen first.xen "$SAMPLES/kvm-nested.dat"
refuse 3 merge -o x.xen first.xen no-file.xen
echo '{ "cpu_khz": 2300000 }' > first.xen.meta.json
echo '{ "cpu_khz": 2400000 }' > second.xen.meta.json
refuse 3 merge -o x.xen first.xen second.xen
cat first.xen second.xen > good.xen
cat second.xen first.xen > jump.xen
rm ./*.meta.json
"$KSV_BIN" split -q --from 2.5 -o later.xen whole.xen
rm ./*.meta.json
refuse 3 merge -o x.xen jump.xen later.xen
golden t151_merge refused
check "nothing is left" test -z "$(ls -A | grep -E '^x\.xen|^\.kshark')"

# A window that is missing between: nothing is known of it, and all is as it was before and behind.
"$KSV_BIN" split -q --to 1 -o a.xen whole.xen
"$KSV_BIN" split -q --from 2 -o b.xen whole.xen
run merge -q -o hole.xen a.xen b.xen
status 0
run report -q -f json hole.xen
cp "$OUT" hole.json
run report -q -f json --to 1 whole.xen
cp "$OUT" a.json
run report -q -f json --from 2 whole.xen
cp "$OUT" b.json
check "a hole is unknown" python3 - hole.json a.json b.json << 'END'
import json, sys
hole, a, b = (json.load(open(f)) for f in sys.argv[1:])
for p, x, y in zip(hole["pcpus"], a["pcpus"], b["pcpus"]):
    assert p["unknown_ns"] >= 10 ** 9 and p["lost_ns"] == 10 ** 9, p
    assert p["busy_ns"] <= x["busy_ns"] + y["busy_ns"], p
    # who is there when the second one begins is known again from its first change on
    assert p["busy_ns"] >= 0.9 * (x["busy_ns"] + y["busy_ns"]), (p, x, y)
END

finish
