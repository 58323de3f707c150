# SPDX-License-Identifier: LGPL-2.1-or-later
# A machine with 5 % of a CPU, on a host that is idle: how long its quota held it, recounted from trace-cmd's text, beside throttled_usec of the kernel's cpu.stat.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/quota_lib.sh"
T=$WORK/kvm-quota.dat
gunzip -c "$SAMPLES/kvm-quota.dat.gz" > "$T"
cp "$SAMPLES/kvm-quota.dat.gz.meta.json" "$T.meta.json"

run report -q -f json "$T"
status 0
cp "$OUT" "$WORK/report.json"
recounted 5000
check "nearly all is certain, and the kernel's sum lies between its own before and after" python3 -c '
import json, sys
limit, = json.load(open(sys.argv[1]))["steal"]["limits"]
quota, = limit["quotas"]
stat = [int(line.split()[1]) * 1000 for line in open(sys.argv[2]) if line.startswith("throttled_usec")]
assert 0.95 * (stat[1] - stat[0]) < quota["throttled_ns"] <= stat[1] - stat[0], (quota, stat)
assert quota["begin"] == quota["end"] == {"quota_us": 5000, "period_us": 100000}, quota
assert quota["throttled"] > 0.95 * quota["periods"] > 500, quota
assert limit["held_ns"] > 0.9 * (limit["held_ns"] + limit["possible_ns"]), limit' \
	"$WORK/report.json" "$SAMPLES/kvm-quota.cpu.txt"
finish
