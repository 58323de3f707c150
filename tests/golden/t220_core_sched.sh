# SPDX-License-Identifier: LGPL-2.1-or-later
# With core scheduling, one pCPU records the switches of all pCPUs of its core. Each vCPU still has its own pCPU,
# its own time and its own VM exits. What a part of the trace shows is never more than the truth.
. "$(dirname "$0")/lib.sh"
trace=$WORK/trace.xen

run report -q --format json "$SAMPLES/cases/core-sched.xen"
status 0
checks=$((checks + 1))
python3 - "$OUT" <<'END' || fail "core-sched.xen: not 6 ms each on its own pCPU, with its own exits"
import json, sys
found = {}
for machine in json.load(open(sys.argv[1]))["machines"]:
    for vcpu in machine["vcpus"]:
        found[vcpu["vcpu"]] = ({p: round(ns / 1e6, 2) for p, ns in vcpu["pcpus_ns"].items()},
                               [(e["reason"], e["count"]) for e in vcpu["exits"]])
v0, v1 = ({"0": 6.0}, [("IO_INSTRUCTION", 27)]), ({"1": 6.0}, [("MSR_WRITE", 27)])
right = {"d1v0": v0, "d1v1": v1, "d2v0": v0, "d2v1": v1}
print(found)
sys.exit(found != right)
END

# sched-gran=core with two threads; socket with four and six
for case in 2:1 4:2 4:3 6:4; do
	check "make $case" python3 "$GOLDEN/core_sched.py" make "${case#*:}" "${case%:*}" "$trace" "$trace.part" \
		"$WORK/truth"
	run report -q --cpu-hz 1G --format json "$trace"
	status 0
	check "$case" python3 "$GOLDEN/core_sched.py" judge "$OUT" "$WORK/truth" all
	run report -q --cpu-hz 1G --format json "$trace.part"
	status 0
	check "$case, the second half" python3 "$GOLDEN/core_sched.py" judge "$OUT" "$WORK/truth" part
done
finish
