# SPDX-License-Identifier: LGPL-2.1-or-later
# A trace of KVM without sched_switch: what it does not show is said to be not split, or unknown.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is not installed"
	exit 77
fi
# Version 6 is not compressed. A switch becomes an event like any other one.
trace-cmd convert --file-version 6 -i "$SAMPLES/kvm-host.dat" -o "$WORK/v6.dat" > "$WORK/said" 2>&1
sed 's/name: sched_switch$/name: sched_swXtch/' "$WORK/v6.dat" > "$WORK/unsplit.dat"
check "it is altered" test "$(cmp -l "$WORK/v6.dat" "$WORK/unsplit.dat" | wc -l)" = 1
cd "$WORK" || exit 1

run report --full unsplit.dat
status 0
says "$ERR" "has no sched_switch: waits between VM exits and entries are not split"
sed '/^records of tasks\|^  records of tasks/,$d' "$OUT" > text
golden t099_unsplit text

run report --quiet --format json v6.dat
status 0
cp "$OUT" whole.json
check "nothing of it is not split" test "$(grep -c unsplit whole.json)" = 0
run report --quiet --format json unsplit.dat
status 0
cp "$OUT" unsplit.json
check "sums" python3 - whole.json unsplit.json << 'END'
import json, sys
whole, cut = (json.load(open(path)) for path in sys.argv[1:])
vcpus = [vcpu for machine in cut["machines"] for vcpu in machine["vcpus"]]
window = cut["window_ns"][1] - cut["window_ns"][0]
assert cut["unsplit"] is True and len(vcpus) == 2
# what vCPUs do on pCPUs is what pCPUs do for vCPUs
for state in "guest", "hypervisor", "vmm":
    ns = sum(vcpu["states"][state]["total_ns"] for vcpu in vcpus)
    assert ns == sum(pcpu[state + "_ns"] for pcpu in cut["pcpus"]), state
    assert state == "guest" or ns == sum(vcpu["unsplit_ns"][state] for vcpu in vcpus), state
for pcpu in cut["pcpus"]:
    assert sum(pcpu[name + "_ns"] for name in ("guest", "hypervisor", "vmm", "unknown")) == window
    assert pcpu["busy_ns"] is None and pcpu["task_ns"] is None, pcpu
    assert pcpu["unsplit_ns"] == pcpu["hypervisor_ns"] + pcpu["vmm_ns"], pcpu
for vcpu in vcpus:
    assert sum(state["total_ns"] or 0 for state in vcpu["states"].values()) == window
    for name in "preempted", "waking", "blocked", "offline":
        assert vcpu["states"][name]["total_ns"] is None, name
    halts = [exit for exit in vcpu["exits"] if exit["reason"] == "HLT"]
    assert halts[0]["count"] and not halts[0]["complete"] and halts[0]["unsplit"], halts
# guest time is what it was; before the first exit it is found out less early
before = [vcpu for machine in whole["machines"] for vcpu in machine["vcpus"]]
for vcpu, same in zip(vcpus, before):
    difference = same["states"]["guest"]["total_ns"] - vcpu["states"]["guest"]["total_ns"]
    assert 0 <= difference < window / 1000, difference
# the machine's state is unknown while one of them may sleep
states = cut["machines"][0]["states_ns"]
assert states["full_run"] is None and 0 < states["lost"] < window, states
END

run report --quiet --format csv unsplit.dat
status 0
check "CSV" test "$(grep -c '^unsplit.dat,unsplit,g1,g1v[01],\(hypervisor\|vmm\|unknown\),,[1-9]' "$OUT")" = 5
check "CSV of pCPUs" test "$(grep -c '^unsplit.dat,pcpu,,p[0-3],unsplit,,[1-9]' "$OUT")" = 4

run report --quiet --worst 1 --kind exit unsplit.dat
status 0
says "$OUT" "waits not split"

run plot --quiet --output unsplit.svg unsplit.dat
status 0
says unsplit.svg "Hypervisor, not split"
check "hatched" test "$(grep -c '<pattern' unsplit.svg)" -ge 3
run plot --quiet --output whole.svg v6.dat
status 0
check "not hatched" test "$(grep -c 'not split' whole.svg)" = 0

run compare --quiet v6.dat unsplit.dat
check "compared" test "$STATUS" -le 1
says "$OUT" "g1.unsplit_percent"

finish
