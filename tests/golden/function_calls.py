#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report --function '*' --format json" against the text of trace-cmd report -R, read from files.

usage: function_calls.py REPORT.json TEXT [FROM TO]

Without lost records: each function has as many calls as beginnings, and its durations add up to those of its ends. Own
time is made anew, from which call lies within which by depth. FROM and TO are seconds as in the text.
"""
import collections
import json
import re
import sys

report = json.load(open(sys.argv[1]))
begin, end = (float(at) for at in sys.argv[3:5]) if len(sys.argv) > 3 else (0, float("inf"))
# later versions of trace-cmd add flags
LINE = re.compile(r"\s*(.*)-(\d+)\s+\[(\d+)\](?:-0x\w+)?\s+([\d.]+): (function|funcgraph_entry|funcgraph_exit):\s*(.*)")
calls = collections.defaultdict(lambda: dict(calls=0, complete=0, total_ns=0, own_ns=0, own_calls=0))
by_task = collections.Counter()
tracer = set()
stacks = collections.defaultdict(list)

for text in open(sys.argv[2], errors="replace"):
    line = LINE.match(text)
    if not line:
        continue
    pid, cpu, time, event = int(line[2]), int(line[3]), float(line[4]), line[5]
    field = dict(word.split("=") for word in line[6].split() if "=" in word)
    inside = begin <= time < end
    if event == "function":
        tracer.add("function")
        calls[field["ip"]]["calls"] += inside
        by_task[pid] += inside
        continue
    tracer.add("function_graph")
    stack = stacks[pid or ("idle", cpu)]
    depth = int(field["depth"])
    if event == "funcgraph_entry":
        while len(stack) and stack[-1]["depth"] >= depth:
            stack.pop()
        stack.append(dict(depth=depth, func=field["func"], inside=inside, inner=0))
        calls[field["func"]]["calls"] += inside
        by_task[pid] += inside
        continue
    took = int(field["rettime"], 16) - int(field["calltime"], 16)
    if not stack or stack[-1]["depth"] != depth or stack[-1]["func"] != field["func"]:
        continue        # it began before the trace
    call = stack.pop()
    if stack:
        stack[-1]["inner"] += took
    if call["inside"]:
        its = calls[field["func"]]
        its["complete"] += 1
        its["total_ns"] += took
        its["own_calls"] += 1
        its["own_ns"] += took - call["inner"]

wrong = 0


def expect(what, got, right):
    global wrong
    if got != right:
        print(f"{what}: {got}, not {right}")
        wrong += 1


group = [one for one in report["functions"] if one.get("source") in tracer]
expect("groups", len(group), 1)
group = group[0]
got = collections.defaultdict(lambda: collections.Counter())
for function in group["functions"]:
    got[function["name"]].update({key: function.get(key, 0) for key in ("calls", "complete", "total_ns", "own_ns",
                                                                         "own_calls")})
right = {name: its for name, its in calls.items() if its["calls"]}
expect("functions", sorted(got), sorted(right))
for name, its in right.items():
    for key, number in its.items():
        expect(f"{name} {key}", got[name][key], number)
expect("all calls", group["all_calls"], sum(its["calls"] for its in right.values()))
pids = collections.Counter()
for task in group["tasks"]:
    pids[0 if task["name"] == "idle" else int(task["name"].rsplit("-", 1)[1])] += task["calls"]
expect("tasks", dict(pids), {pid: n for pid, n in by_task.items() if n})
for parts in ("tasks", "cpus", "machines"):
    expect(parts, sum(part["calls"] for part in group[parts]), group["all_calls"])
up_to = 0
for function in group["functions"]:
    up_to += function["own_ns"] if "own_up_to_ns" in function else function["calls"]
    expect(f"up to {function['name']}", function.get("own_up_to_ns", function.get("calls_up_to")), up_to)
patterns = group["patterns"]
expect("parts", sum(part["calls"] for part in patterns) - group["again"]["calls"] + group["other"]["calls"],
       group["all_calls"])
print(f"{group['source']}: {len(right)} functions, {group['all_calls']} calls, {wrong} wrong")
sys.exit(wrong > 0)
