# SPDX-License-Identifier: LGPL-2.1-or-later
# How long a cap of credit2 held a domain: what xenalyze prints of its runstates, in windows, and unknown without records.
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
if command -v xenalyze > /dev/null; then
	xenalyze --svm-mode --cpu-hz 2596099705 --dump-all "$T" > "$WORK/dump" 2> /dev/null
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
