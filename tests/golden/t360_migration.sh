# SPDX-License-Identifier: LGPL-2.1-or-later
# migration: a machine that QEMU moved between two hosts. The blackout is QEMU's own downtime within 5 %; moments and VM
# exits are those of trace-cmd's text; the parts add up, in all formats.
. "$(dirname "$0")/lib.sh"

cd "$SAMPLES" || exit 1
both="kvm-moved-source.dat.gz kvm-moved-target.dat.gz"
# shellcheck disable=SC2086
{
run migration $both
status 0
golden t360_migration "$OUT"
run migration -q -f json $both
status 0
cp "$OUT" "$WORK/json"
run migration -q -f csv $both
status 0
cp "$OUT" "$WORK/csv"
}

for side in source target; do
	gzip -dc "kvm-moved-$side.dat.gz" > "$WORK/$side.dat"
	trace-cmd report -t -i "$WORK/$side.dat" > "$WORK/$side.txt" 2> /dev/null
done
check "the oracle" python3 "$GOLDEN/migration_oracle.py" "$WORK/csv" "$WORK/source.txt" "$WORK/target.txt" \
	kvm-moved.qemu.txt

# JSON has the same numbers as CSV
check "JSON is CSV" python3 - "$WORK/json" "$WORK/csv" <<'END'
import csv, json, sys
document = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2])))
flat = [dict(phase, **cost) for phase in document["phases"] for cost in phase["costs"]]
assert document["version"] == 1 and document["recognised_by"] == "name", document
assert len(flat) == len(rows)
for one, other in zip(flat, rows):
    for key, text in other.items():
        if key != "machine":
            value = one.get(key)
            assert ("" if value is None else str(value)) == text, (key, value, text)
END

finish
