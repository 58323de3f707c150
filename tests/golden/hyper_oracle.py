#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report --hypertrace --boot --function '*'" by brute force, for one machine.

Usage: hyper_oracle.py REPORT.json CALLS.json TRUTH.json

CALLS.json is what "dump --hypertrace --format json" wrote of the same file, which must not lie or lose;
TRUTH.json has the times at which each vCPU executed its guest. Tasks, functions, phases and levels are made anew,
and their times by going through all of it for each.
"""
import collections
import json
import sys

report, truth = json.load(open(sys.argv[1])), json.load(open(sys.argv[3]))
calls = [json.loads(line) for line in open(sys.argv[2])]
end = report["window_ns"][1]
compared = 0


def expect(what, got, wanted):
    global compared
    compared += 1
    if got != wanted:
        sys.exit("%s: %s in the report, %s in the calls" % (what, got, wanted))


def executed(cpu, start, stop):
    return sum(max(0, min(stop, left if left is not None else end) - max(start, entered))
               for entered, left in truth[cpu])


# who had each CPU
runs = collections.defaultdict(list)            # pid: (CPU, from, to)
current = {}
for call in [c for c in calls if c.get("kind") == "switch"]:
    cpu, now = call["vcpu"], call["time_ns"]
    if cpu in current:
        pid, since = current[cpu]
        runs[pid].append((cpu, since, now))
    current[cpu] = (call["fields"]["pid"], now)
for cpu, (pid, since) in current.items():
    runs[pid].append((cpu, since, end))
machine = report["hypertrace"][0]
tasks = {task["pid"]: task for task in machine["tasks"]}
expect("tasks", sorted(tasks), sorted(runs))
for pid, his in runs.items():
    expect("time of task %d" % pid, tasks[pid]["cpu_ns"], sum(b - a for _, a, b in his))
    expect("true time of task %d" % pid, tasks[pid]["executed_ns"],
           sum(executed(*run) for run in his))
    expect("runs of task %d" % pid, tasks[pid]["runs"], len(his))

# functions: each one is the last of its task that has not ended
stacks = collections.defaultdict(list)
functions = collections.defaultdict(lambda: dict.fromkeys(("calls", "complete", "cpu_ns", "true_ns",
                                                           "self_ns"), 0))


def pid_at(cpu, now):
    return next((pid for pid, his in runs.items() for c, a, b in his if c == cpu and a <= now < b),
                None)


for call in [c for c in calls if c.get("kind") == "function"]:
    cpu, now, address = call["vcpu"], call["time_ns"], call["fields"]["address"]
    pid = pid_at(cpu, now)
    stack = stacks[pid if pid else -1 - cpu]
    if call["edge"] == "entry":
        functions[address]["calls"] += 1
        stack.append([now, 0])
        continue
    since, inner = stack.pop()
    pieces = [(cpu, since, now)] if not pid else \
        [(c, max(a, since), min(b, now)) for c, a, b in runs[pid] if a < now and b > since]
    time = sum(executed(*piece) for piece in pieces)
    its = functions[address]
    its["complete"] += 1
    its["cpu_ns"] += sum(b - a for _, a, b in pieces)
    its["true_ns"] += time
    its["self_ns"] += time - inner
    if stack:
        stack[-1][1] += time
reported = {function["address"]: function for function in report["functions"][0]["functions"]}
expect("functions", sorted(reported), sorted(functions))
for address, numbers in functions.items():
    for key, number in numbers.items():
        expect("%s of 0x%x" % (key, address), reported[address][key], number)

# phases end with the next phase or the way down, levels with those and the next level
ends = {"phase": ("phase", "shutdown"), "level": ("level", "phase", "shutdown"),
        "shutdown": ("shutdown", "phase")}
marks = [c for c in calls if c.get("edge") == "at_once" and c["kind"] in ends]
stages = [s for s in report["boot"][0]["stages"] if s["kind"] in ends]
expect("stages", len(stages), len(marks))
for i, (mark, stage) in enumerate(zip(marks, stages)):
    following = [m["time_ns"] for m in marks[i + 1:] if m["kind"] in ends[mark["kind"]]]
    to = following[0] if following else end
    expect("begin", stage["from_ns"], mark["time_ns"])
    expect("end of " + stage["name"], (stage["to_ns"], stage["end_known"]), (to, bool(following)))
    expect("true time of " + stage["name"], stage["true_ns"],
           executed(mark["vcpu"], mark["time_ns"], to))
    expect("calls in " + stage["name"], stage["tracing_calls"],
           sum(c["vcpu"] == mark["vcpu"] and mark["time_ns"] <= c["time_ns"] < to and
               c["result"] != "kvm" for c in calls))
print("%d numbers compared" % compared)
