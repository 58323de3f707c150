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

# without records of the scheduler, nothing is known of what threads did
for side in source target; do
	LC_ALL=C sed 's/name: sched_switch$/name: sched_swixxx/' "$WORK/$side.dat" > "$WORK/bare-$side.dat"
	cp "kvm-moved-$side.dat.gz.meta.json" "$WORK/bare-$side.dat.meta.json"
done
run migration -q "$WORK/bare-source.dat" "$WORK/bare-target.dat"
status 0
says "$OUT" "Nothing shows where the brown-out begins"
check "no time of threads" test -z "$(grep 'threads of the monitor' "$OUT")"
check "no steal" test -z "$(awk '$1 == "all" && $4 != "-" && $4 != "0"' "$OUT" | grep -v '4.660 s')"

finish
