#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check the time on CPUs of "kshark-virt report --function '*' --format json HOST GUEST", by brute force.

usage: function_pair.py REPORT.json HOST GUEST

HOST and GUEST are texts of trace-cmd report -R -t on the host's clock. The guest's sched_switch shows who has its CPUs, the
host's kvm_entry and kvm_exit when its vCPUs executed it. Each call is a sum over all of these.
"""
import collections
import json
import re
import sys

# later versions of trace-cmd add flags
LINE = re.compile(r"\s*(.*)-(\d+)\s+\[(\d+)\](?:-0x\w+)?\s+([\d.]+): (\w+):\s*(.*)")


def lines(path):
    for text in open(path, errors="replace"):
        line = LINE.match(text)
        if line:
            fields = dict(re.findall(r"(\w+)=(\S*)", line[6]))
            yield line[1].strip(), int(line[2]), int(line[3]), int(line[4].replace(".", "")), line[5], fields


report = json.load(open(sys.argv[1]))
group = [one for one in report["functions"] if one.get("source") == "function_graph"][0]
begin, end = report["window_ns"]

# when each vCPU executes the guest
inside = collections.defaultdict(list)
names = {}
for comm, pid, _, at, event, fields in lines(sys.argv[2]):
    vcpu = re.match(r"CPU (\d+)/KVM", comm)
    if not vcpu:
        continue
    names[pid] = int(vcpu[1])
    its = inside[names[pid]]
    if event == "kvm_entry":
        its.append([at, end])
    elif event == "kvm_exit" and its:
        its[-1][1] = min(its[-1][1], at)

# who has each CPU of the guest, and its calls
runs, has = collections.defaultdict(list), {}
calls, stacks = [], collections.defaultdict(list)
for _, pid, cpu, at, event, fields in lines(sys.argv[3]):
    task = pid or -1 - cpu
    if cpu not in has:
        has[cpu] = (task, at)
    if event == "sched_switch":
        runs[has[cpu][0]].append((cpu, has[cpu][1], at))
        has[cpu] = (int(fields["next_pid"]) or -1 - cpu, at)
    elif event == "funcgraph_entry":
        stack, depth = stacks[task], int(fields["depth"])
        while stack and stack[-1][0] >= depth:
            stack.pop()
        stack.append((depth, fields["func"], at))
    elif event == "funcgraph_exit" and stacks[task] and stacks[task][-1][:2] == (int(fields["depth"]), fields["func"]):
        start = stacks[task].pop()[2]
        if begin <= start < end:
            calls.append((fields["func"], task, start, at))
    last = at
for cpu, (task, at) in has.items():
    runs[task].append((cpu, at, last))


def overlap(a, b, c, d):
    return max(0, min(b, d) - max(a, c))


cpu_ns, true_ns, n = collections.Counter(), collections.Counter(), collections.Counter()
for name, task, start, stop in calls:
    n[name] += 1
    for cpu, a, b in runs[task]:
        if overlap(a, b, start, stop):
            cpu_ns[name] += overlap(a, b, start, stop)
            a, b = max(a, start), min(b, stop)
            true_ns[name] += sum(overlap(a, b, c, d) for c, d in inside[cpu])
wrong = 0
total = [0, 0]
got = collections.defaultdict(collections.Counter)
for function in group["functions"]:
    got[function["name"]].update({key: function[key] for key in ("cpu_calls", "cpu_ns", "true_ns")})
for name, its in got.items():
    right = (n[name], cpu_ns[name], true_ns[name])
    its = (its["cpu_calls"], its["cpu_ns"], its["true_ns"])
    total[0] += its[1]
    total[1] += its[2]
    if its != right:
        print(name, its, "not", right)
        wrong += 1
print(f"{len(got)} functions, {sum(n.values())} calls, on CPU {total[0]} ns, true {total[1]} ns, {wrong} wrong")
sys.exit(wrong > 0 or not total[1] or total[1] >= total[0])
