# SPDX-License-Identifier: LGPL-2.1-or-later
# A trace in which hypercalls, each from its exit to its entry, are the only records of vCPUs: what they do else is
# unknown, and no one has taken a pCPU from them.
. "$(dirname "$0")/lib.sh"

for name in alone alone_switched; do
	python3 "$GOLDEN/hyper_files.py" $name "$WORK/$name.dat" || fail "no story $name"
done
cd "$WORK" || exit 1
set -f
for name in alone alone_switched; do
	for what in 'dump --hypertrace' 'report --full' 'report --hypertrace --boot --function *'; do
		run $what $name.dat
		status 0
		{ echo "== $what $name"; cat "$OUT"; echo "-- said"; cat "$ERR"; } >> printed
	done
done
golden t180_hypertrace_alone printed

# Recounted: a vCPU is in the hypervisor for as long as its calls say, if they can be believed; it is off where the
# host's scheduler shows it; all else is unknown.
for name in alone alone_switched; do
	run dump --quiet --hypertrace --format json $name.dat
	cp "$OUT" calls
	run report --quiet --format json $name.dat
	status 0
	check "$name: states" python3 - "$OUT" calls $name <<'END'
import json
import sys
report = json.load(open(sys.argv[1]))
begin, end = report["window_ns"]
hypervisor, last = {0: 0, 1: 0}, {0: begin, 1: begin}
for call in map(json.loads, open(sys.argv[2])):
    # reported at the exit, recorded at the entry
    left, vcpu = call["time_ns"], call["vcpu"]
    entered = left + call["fields"].get("before", 0)
    if left >= last[vcpu] or last[vcpu] == begin:
        hypervisor[vcpu] += entered - max(left, begin)
    last[vcpu] = max(last[vcpu], entered)
vcpus = {v["id"]: {s: t["total_ns"] for s, t in v["states"].items() if t["total_ns"]}
         for m in report["machines"] for v in m["vcpus"]}
off = {"alone": ({}, {}), "alone_switched": ({"preempted": 51000}, {"blocked": 51000})}[sys.argv[3]]
for vcpu, states in vcpus.items():
    assert sum(states.values()) == end - begin, states
    assert states.pop("hypervisor") == hypervisor[vcpu] > 0, (vcpu, hypervisor)
    states.pop("unknown")
    assert states == off[vcpu], states
END
done
finish
