# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which tasks of a guest had the pCPUs of others, recounted.

    culprit_tasks.py REPORT.json REPORT.csv TABLES GUEST.text

Who waited for which pCPU and who was there is from "export" (TABLES); which task the guest had at that time
comes from the text of "trace-cmd report -t" of its trace, on the host's axis, alone. Prints how many times of tasks
were compared.
"""
import bisect
import collections
import csv
import json
import re
import sys

# newer trace-cmd has flags before the time, and large times leave no blank between them
LINE = re.compile(r"^(?:\S+:)?\s*.*?-(\d+)\s+\[(\d+)\]\s*(?:[^\s\d]\S{4}\s*|[^\s\d]\S{3}\s+)?"
                  r"([\d.]+):\s+(\w+):(.*)$")
NEXT = re.compile(r"==> .*:(\d+) \[")


def ns_of(time):
    seconds, _, fraction = time.partition(".")
    return int(seconds) * 10**9 + int(fraction) if fraction else int(seconds)


def runs_of(path):
    """By CPU: times and pids, each until the next; the last one is not known."""
    runs, last = {}, {}
    for line in open(path, errors="replace"):
        match = LINE.match(line)
        if not match:
            continue
        pid, cpu, time, event, rest = match.groups()
        cpu, time = int(cpu), ns_of(time)
        to = runs.setdefault(cpu, ([], []))
        if cpu not in last:
            to[0].append(time)
            to[1].append(int(pid))
        last[cpu] = time
        following = NEXT.search(rest) if event == "sched_switch" else None
        if following:
            to[0].append(time)
            to[1].append(int(following[1]))
    for cpu, time in last.items():
        runs[cpu][0].append(time)
        runs[cpu][1].append(None)
    return runs


def pieces(runs, begin, end):
    """Who had a CPU in [begin, end): (pid or None, ns)."""
    times, pids = runs
    at = bisect.bisect_right(times, begin) - 1
    while begin < end:
        until = times[at + 1] if at + 1 < len(times) else end
        yield (pids[at] if at >= 0 else None), min(until, end) - begin
        begin, at = min(until, end), at + 1


def main(json_path, csv_path, tables, text):
    report = json.load(open(json_path))
    begin, end = report["window_ns"]
    cpu_of = {c["vcpu"]: c["cpu"] for g in report["guests"] for c in g["cpus"] if "vcpu" in c}
    runs = runs_of(text)
    names = {row["id"]: row["name"] for row in csv.DictReader(open(tables + "/vcpu.csv"))}
    waits, there = [], collections.defaultdict(list)
    for row in csv.DictReader(open(tables + "/interval.csv")):
        if row["pcpu"] == "":
            continue
        a, b = max(int(row["start_ns"]), begin), min(int(row["end_ns"]), end)
        if a >= b:
            continue
        if row["state"] == "preempted":
            waits.append((names[row["vcpu"]], row["pcpu"], a, b))
        elif row["state"] in ("guest", "hypervisor", "polling", "vmm"):
            there[row["pcpu"]].append((a, b, names[row["vcpu"]]))
    starts = {}
    for pcpu, on in there.items():
        on.sort()
        starts[pcpu] = [a for a, _, _ in on]
    wanted = collections.Counter()
    for vcpu, pcpu, a, b in waits:
        on = there[pcpu]
        at = max(bisect.bisect_right(starts.get(pcpu, []), a) - 1, 0)
        for x, y, who in on[at:]:
            if x >= b:
                break
            if who in cpu_of and max(x, a) < min(y, b):
                for pid, ns in pieces(runs[cpu_of[who]], max(x, a), min(y, b)):
                    wanted[vcpu, who, pid] += ns
    reported, machines = collections.Counter(), collections.Counter()
    machine_of = {v["vcpu"]: m["machine"] for m in report["machines"] for v in m["vcpus"]}
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            for culprit in vcpu["culprits"]:
                tasks = culprit.get("tasks", [])
                assert not tasks or sum(t["total_ns"] for t in tasks) == culprit["total_ns"], culprit
                assert bool(tasks) == (culprit["who"] in cpu_of), culprit
                for task in tasks:
                    reported[vcpu["vcpu"], culprit["who"], task.get("pid")] += task["total_ns"]
                    machines[machine["machine"], machine_of[culprit["who"]], task.get("pid")] += task["total_ns"]
    assert +wanted == reported, (wanted - reported, reported - wanted)
    stolen = collections.Counter()
    for task in report["steal"]["tasks"]:
        stolen[task["from"], task["by"], task.get("pid")] += task["total_ns"]
    assert stolen == machines, (stolen, machines)
    rows = [row for row in csv.DictReader(open(csv_path))]
    assert sum(int(r["total_ns"]) for r in rows if r["section"] == "culprit_task") == sum(reported.values())
    assert sum(int(r["total_ns"]) for r in rows if r["section"] == "steal_task") == sum(reported.values())
    assert len([r for r in rows if r["section"] == "culprit_task"]) == len(reported)
    print(len(reported))


main(*sys.argv[1:])
