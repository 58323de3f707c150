# SPDX-License-Identifier: LGPL-2.1-or-later
# The tables of docs/hypertrace-cost.md are those of the values that they come from, counted once more.
. "$(dirname "$0")/lib.sh"

values=$SAMPLES/hypertrace-cost.csv
doc=$KSV_SOURCE_DIR/docs/hypertrace-cost.md
"$KSV_SOURCE_DIR/tests/bench/hypertrace" --values "$values" "$WORK/none" > "$WORK/tables" || fail "no tables"
check "lines of tables" test "$(grep -c '^|' "$WORK/tables")" -gt 40
grep '^| ' "$WORK/tables" | grep -vFxf "$doc" > "$WORK/missing"
check "not in the document: $(cat "$WORK/missing")" test ! -s "$WORK/missing"
check "medians" python3 - "$WORK/tables" "$values" <<'END'
import collections
import csv
import re
import statistics
import sys
values = collections.defaultdict(list)
for row in csv.DictReader(open(sys.argv[2])):
    values[row["run"], row["metric"]].append(float(row["value"]))
n = 0
for line in open(sys.argv[1]):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) < 2 or cells[0] == "---":
        continue
    if not cells[0]:
        metrics = cells[1:]
        continue
    for metric, cell in zip(metrics, cells[1:]):
        # five rounds: the middle one
        wanted = statistics.median(values[cells[0], metric])
        got = float(re.match(r"[-\d.e+]+", cell)[0])
        assert len(values[cells[0], metric]) == 5 and abs(got - wanted) <= max(1, wanted / 100), (cells[0], metric)
        n += 1
assert n > 120, n
END
finish
