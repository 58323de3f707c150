# SPDX-License-Identifier: LGPL-2.1-or-later
# What a domain of Xen reported by HVMOP_xentrace is what its own ftrace recorded; what is said of calls without a time.
. "$(dirname "$0")/lib.sh"

sample=$SAMPLES/hypertrace-pvh.xen.gz
compare=$KSV_SOURCE_DIR/samples/record/kvm/hypertrace.py
check "one to one" python3 "$compare" "$sample" "$SAMPLES/hypertrace-pvh-guest.txt.gz" > "$WORK/said"
says "$WORK/said" "the same: 121 switches one to one"

run dump --quiet --hypertrace --format json "$sample"
status 0
check "decoded as by hypertrace.py" python3 "$GOLDEN/hypertrace_decoded.py" "$OUT" "$compare" "$sample" > "$WORK/said"
says "$WORK/said" "443 calls"

# Each call lies between an exit of its vCPU and the next entry.
run report --quiet --format json --hypertrace "$sample"
status 0
check "calls" python3 - "$OUT" <<'END'
import json
import sys
(machine,) = json.load(open(sys.argv[1]))["hypertrace"]
assert machine["machine"] == "d1" and machine["dialect"] == "hypertrace"
assert machine["calls"] == {"decoded": 443, "unknown": 0, "kvm": 0, "senseless": 0, "user": 0, "outside": 0, "vague": 0}
assert not [t for t in machine["troubles"] if t["what"] == "events out of order"], machine["troubles"]
END

# Without the records of exits, a call has the time of whatever was recorded before it, and no vCPU is accused for it.
gzip -dc "$sample" > "$WORK/all.xen"
python3 "$GOLDEN/xen_less.py" "$WORK/all.xen" "$WORK/less.xen" 'event >> 12 & 0xff != 0x81' ||
	fail "records cannot be left out"
run report --quiet --cpu-hz 2596103K --hypertrace "$WORK/less.xen"
status 0
says "$OUT" '443 calls have the time of the last record before them'
check "no calls outside" test "$(grep -c 'lie where the vCPU' "$OUT")" = 0
check "nothing is out of order" test "$(grep -c 'out of order' "$OUT")" = 0
finish
