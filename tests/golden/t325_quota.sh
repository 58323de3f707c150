# SPDX-License-Identifier: LGPL-2.1-or-later
# How long a CPU quota of cgroups held a machine: recounted from trace-cmd's text, beside the kernel's throttled_usec; windows, parts, limits, and unknown without the sidecar's cgroups.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/quota_lib.sh"
T=$WORK/host-quota.dat
gunzip -c "$SAMPLES/host-quota.dat.gz" > "$T"
cp "$SAMPLES/host-quota.dat.gz.meta.json" "$T.meta.json"

# limits ARGUMENT...: of web, in ns and times
limits()
{
	run report -q -f json "$@"
	status 0
	python3 - "$OUT" << 'END'
import json, sys
limit, = json.load(open(sys.argv[1]))["steal"]["limits"]
print(limit["held_ns"], limit["held"], limit["possible_ns"])
END
}

limits "$T" > "$WORK/all"
cp "$OUT" "$WORK/report.json"
for window in "--to 31%" "--from 31% --to 31.5%" "--from 31.5% --to 34%" "--from 34% --to 80%" "--from 80%"; do
	limits $window "$T"
done | awk '{ ns += $1; n += $2; maybe += $3 } END { printf "%.0f %.0f %.0f\n", ns, n, maybe }' > "$WORK/windows"
check "windows add up" cmp "$WORK/all" "$WORK/windows"
check "some is certain, most is not" awk '{ exit !($1 > 1e8 && $2 > 1 && $3 > 2e9) }' "$WORK/all"

recounted 500 alone
check "cpu.stat at both ends" python3 -c '
import json, sys
cgroup = json.load(open(sys.argv[1]))["cgroups"][1]
stat = [int(line.split()[1]) // 1000 for line in open(sys.argv[2]) if line.startswith("throttled_")]
assert stat[0] <= cgroup["begin"]["throttled_us"] < cgroup["end"]["throttled_us"] <= stat[1], (cgroup, stat)' \
	"$T.meta.json" "$SAMPLES/host-quota.cpu.txt"

# in words
run report -q --full "$T"
says "$OUT" "held by its own limit"
says "$OUT" "or up to"
run why -q --worst 1 --kind steal --vcpu "web v0" --from 2156.6s --to 2156.7s "$T"
says "$OUT" "; its CPU quota held it for 83.8"
run why -q --worst 1 --kind steal "$T"
says "$OUT" "; its CPU quota may have held it for "
run report -q --worst 1 --kind steal "$T"
says "$OUT" ", its CPU quota may have held it for "

# limits: what is certain exceeds one; what is only possible leaves it unknown
run check -q --max held=5% --max held.max=50ms --max held.count=1 --max 'steal[limit]=5%' "$T"
status 1
check "all are exceeded" test "$(grep -c "is more than" "$OUT")" = 4
run check -q --max held=85% --max held.rate=1000/s "$T"
status 0
for unknown in held=50% held.max=90ms held.count=20 'steal[limit]=50%'; do
	run check -q --max "$unknown" "$T"
	status 4
	says "$OUT" "whether the quota was the cause of all waits"
done

# a guest's warning in a hold: what is certain is a part of its own
echo "[   12.500000] watchdog: BUG: soft lockup - CPU#0 stuck for 1s! [burn:77]" > "$WORK/console.log"
run why -q -f json --guest-log "web:$WORK/console.log" --log-offset "web:2144.4" "$T"
status 0
check "out of quota" python3 -c '
import csv, json, sys
answer, = json.load(open(sys.argv[1]))["answers"]
begin, end = answer["window_ns"]
vcpu, = {row["id"] for row in csv.DictReader(open(sys.argv[2] + "/vcpu.csv")) if row["name"] == "web v0"}
held = sum(int(row["held_ns"]) for row in csv.DictReader(open(sys.argv[2] + "/interval.csv"))
           if row["vcpu"] == vcpu and int(row["end_ns"]) <= end and row["held_ns"])
assert answer["parts"]["limit_ns"] == held > 80000000, (answer, held)' "$OUT" "$WORK/tables"

# parts, and parts put together
from=2156.64s middle=2157s to=2157.4s
run split --from "$from" --to "$middle" --output "$WORK/a.dat" "$T"
status 0
run split --from "$middle" --to "$to" --output "$WORK/b.dat" "$T"
status 0
run merge --output "$WORK/ab.dat" "$WORK/a.dat" "$WORK/b.dat"
status 0
for part in "$from $middle a" "$middle $to b" "$from $to ab"; do
	set -- $part
	run report -q -f json --from "$1" --to "$2" "$T"
	cp "$OUT" "$WORK/whole.json"
	run report -q -f json "$WORK/$3.dat"
	check "holds in the part $3 are those of the whole" python3 - "$WORK/whole.json" "$OUT" << 'END'
import json, sys
whole, part = (json.load(open(name))["steal"] for name in sys.argv[1:])
keys = "machine", "held_ns", "held", "possible_ns"
of = [[{key: row.get(key) for key in keys} for row in steal["limits"]] for steal in (whole, part)]
assert of[0] == of[1] and whole["kinds"] == part["kinds"], (whole, part)
END
done

# without the timers, nothing is certain, and more is possible
python3 - "$T.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
del meta["quota_timer"], meta["slack_timer"]
json.dump(meta, open(sys.argv[1], "w"))
END
limits "$T" > "$WORK/untimed"
check "nothing is certain, and more possible" python3 -c '
import sys
(held, _, possible), (less, _, more) = (list(map(int, open(name).read().split())) for name in sys.argv[1:])
assert less == 0 and more > held + possible, (held, possible, less, more)' "$WORK/all" "$WORK/untimed"
# without the cgroup of a vCPU, nothing is known
python3 - "$T.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
del meta["guests"][0]["vcpus"][1]["cgroup"]
json.dump(meta, open(sys.argv[1], "w"))
END
run report -q -f json "$T"
status 0
check "unknown" python3 -c '
import json, sys
steal = json.load(open(sys.argv[1]))["steal"]
assert steal["limits"][0]["held_ns"] is None and steal["kinds"]["limit_ns"] is None, steal' "$OUT"
run check -q --max held=1% "$T"
status 4
says "$OUT" "held=1%: unknown, as the sidecar lacks cgroups of vCPUs"
finish
