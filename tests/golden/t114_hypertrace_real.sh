# SPDX-License-Identifier: LGPL-2.1-or-later
# Real hypercalls of a guest, with what is known of them: all are there, in order, of the right vCPU.
. "$(dirname "$0")/lib.sh"

sample=$SAMPLES/kvm-hypercall.dat
if ! command -v trace-cmd > /dev/null; then
	echo "$TEST: no trace-cmd here"
	exit 77
fi
trace-cmd report -t "$sample" 2> /dev/null > "$WORK/all" || fail "trace-cmd cannot report"
run dump --hypertrace --format json "$sample"
status 0
says "$ERR" 'g1: no dialect is known for hypercalls 1000, 1001: only 10 of 130 make sense in hypergraph'
check "what trace-cmd says" python3 - "$WORK/all" "$OUT" <<'END'
import json
import re
import sys
calls = [json.loads(line) for line in open(sys.argv[2])]
thread, entered, said = {}, {}, []
for line in open(sys.argv[1], errors="replace"):
    m = re.match(r"^\s*.*-(\d+)\s+\[(\d+)\].*?(\d+)\.(\d{9}): +(\w+): *(.*)$", line)
    if not m:
        continue
    pid, cpu, event, info = int(m[1]), int(m[2]), m[5], m[6]
    if event == "kvm_entry":
        thread[pid] = int(re.search(r"vcpu (\d+)", info)[1])
    if event == "kvm_hypercall":
        numbers = [int(n, 16) for n in re.findall(r"0x([0-9a-f]+)", info)]
        said.append((int(m[3]) * 10**9 + int(m[4]), cpu, pid, numbers[0], numbers[1:5]))
assert len(said) == len(calls) == 135, (len(said), len(calls))
for (time, cpu, pid, nr, registers), call in zip(sorted(said), calls):
    assert (time, cpu, thread[pid], nr, registers) == \
        (call["time_ns"], call["pcpu"], call["vcpu"], call["nr"], call["registers"]), (call, time)
# the calls that kvmhc was started with
expected = [(1000, first + i, i) for first in (0, 100, 200, 300) for i in range(25)] + \
    [(1001, 7000 + i, i) for i in range(10)] + [(1, i, i) for i in range(5)] + \
    [(1000, 9000 + i, i) for i in range(20)]
assert [(c["nr"], c["registers"][0], c["registers"][3]) for c in calls] == expected
assert [c["result"] for c in calls].count("kvm") == 5
END

# In a dialect of its own, it reports a task that counts; each call lies where the vCPU is out.
cat > "$WORK/kvmhc.json" <<'END'
{ "hypertrace_dialect": "kvmhc", "about": "a module that counts",
  "events": [ { "number": 1000, "name": "tick", "kind": "switch",
                "fields": [ { "is": "pid", "register": 0, "bits": 32 } ] },
              { "number": 1001, "name": "tock", "kind": "level",
                "fields": [ { "is": "number", "register": 0 } ] } ] }
END
run report --quiet --format json --hypertrace="$WORK/kvmhc.json" --boot "$sample"
status 0
check "tasks and levels" python3 - "$OUT" <<'END'
import json
import sys
report = json.load(open(sys.argv[1]))
machine = report["hypertrace"][0]
assert machine["calls"] == {"decoded": 130, "unknown": 0, "kvm": 5, "senseless": 0, "user": 0, "outside": 0,
                            "vague": 0}
assert machine["numbers"] == [{"nr": 1, "name": "KVM_HC_VAPIC_POLL_IRQ", "result": "kvm", "count": 5}]
assert machine["troubles"] == [], machine["troubles"]
assert len(machine["tasks"]) == 120
for task in machine["tasks"]:
    assert sum(task["states_ns"].values()) == task["cpu_ns"], task
stages = report["boot"][0]["stages"]
assert [s["number"] for s in stages] == list(range(7000, 7010))
for stage, following in zip(stages, stages[1:]):
    assert stage["to_ns"] == following["from_ns"] and stage["end_known"]
    # the one that begins it
    assert stage["tracing_calls"] == 1 and 0 < stage["tracing_ns"], stage
    assert 0 < stage["true_ns"] < stage["to_ns"] - stage["from_ns"], stage
assert not stages[-1]["end_known"]
END
finish
