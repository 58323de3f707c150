#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tasks of a host, by "report --tasks": laws, a recount, perf's numbers, and sums of windows.

usage: host_tasks.py laws TASKS.json TASKS.csv
       host_tasks.py text TASKS.json TEXT	TEXT is what "trace-cmd report -R -t" prints
       host_tasks.py perf TASKS.json TIMEHIST	TIMEHIST is what "perf sched timehist --summary" prints
       host_tasks.py sums TASKS.json PART.json...
"""
import collections
import csv
import json
import re
import sys

STATES = "preempted_ns", "waking_ns", "blocked_ns", "absent_ns", "unknown_ns"
MODES = "guest_ns", "user_ns", "syscall_ns", "interrupt_ns", "softirq_ns", "idle_ns", "mode_unknown_ns"


def tasks_of(document):
    return {task["pid"]: task for machine in document["machines"] for task in machine["tasks"]}


def known(task, keys):
    return sum(task.get(key) or 0 for key in keys)


def check_laws(document, rows):
    """A task's states fill the window, its modes and its pCPUs the time that it was on pCPUs."""
    begin, end = document["window_ns"]
    pcpus = collections.Counter()
    tasks = tasks_of(document)
    for pid, task in tasks.items():
        if pid:
            assert task["total_ns"] + known(task, STATES) == end - begin, task
            assert (task["uninterruptible_ns"] or 0) <= (task["blocked_ns"] or 0), task
        assert known(task, MODES) == task["total_ns"], task
        assert sum(task["pcpus_ns"].values()) == task["total_ns"], task
        pcpus.update(task["pcpus_ns"])
    assert tasks and max(pcpus.values()) <= end - begin, pcpus
    unknown = [number for record in document.get("not_recorded", []) for number in record["unknown"]]
    for machine in document["machines"]:
        for key in ("total_ns", "preempted_ns", "waking_ns") + MODES:
            ns = [task.get(key) for task in machine["tasks"] if key in task]
            assert machine[key] == (None if None in ns else sum(ns)), (machine["machine"], key)
        calls = collections.Counter()
        for call in machine["syscalls"] or []:
            calls[call["pid"]] += call["total_ns"]
        for pid, ns in calls.items():
            assert ns == tasks[pid]["syscall_ns"], tasks[pid]
        waits = collections.Counter()
        # without wake-ups, waits for a pCPU have no beginning
        assert (machine["culprits"] is None) == (machine["waking_ns"] is None or "steal by culprit" in unknown), machine
        for culprit in machine["culprits"] or []:
            waits[culprit["pid"]] += culprit["total_ns"]
        for pid, ns in waits.items():
            assert ns <= tasks[pid]["preempted_ns"] + (tasks[pid]["waking_ns"] or 0), tasks[pid]
    at = 0
    for machine in document["machines"]:
        for section, key in ("task", "tasks"), ("syscall", "syscalls"), ("culprit", "culprits"), ("cgroup", "cgroups"):
            for one in machine.get(key) or []:
                row = rows[at]
                at += 1
                assert row["section"] == section and row["machine"] == machine["machine"], row
                for column in row:
                    if column in one:
                        assert row[column] == str("" if one[column] is None else one[column]), (column, row, one)
    assert at == len(rows), (at, len(rows))
    return len(tasks)


class Recount:
    """What each task did, from the text, without a line of the other code."""

    def __init__(self, begin, ends, interrupts):
        self.interrupts = interrupts    # else other modes include them
        self.begin = begin
        self.ends = ends        # by CPU: time of the last record
        self.on = {}            # by CPU: pid, since when
        self.ns = collections.defaultdict(collections.Counter)
        self.pcpus = collections.defaultdict(collections.Counter)
        self.state = {}         # by pid: state, since when
        self.moves = collections.Counter()
        self.was_on = {}
        self.soft = collections.Counter()
        self.hard = collections.Counter()
        self.since = {}
        self.certain = None

    def change(self, pid, now, state):
        if pid <= 0:
            return
        if pid in self.state:
            before, since = self.state[pid]
            if before == "blocked" and state == "runs":
                before = "unknown"
            if before == "D" and state != "runs":
                self.ns[pid]["uninterruptible_ns"] += now - since
                before = "blocked"
            self.ns[pid][before + "_ns"] += now - since
        self.state[pid] = state, now

    def run(self, cpu, now):
        if cpu in self.on:
            pid = self.on[cpu]
            mode = "interrupt_ns" if self.hard[cpu] else "softirq_ns" if self.soft[cpu] else "other_ns"
            self.ns[pid][mode] += now - self.since[cpu]
            self.ns[pid]["total_ns"] += now - self.since[cpu]
            self.pcpus[pid][str(cpu)] += now - self.since[cpu]
        self.since[cpu] = now

    def arrive(self, cpu, pid, now):
        self.on[cpu] = pid
        self.change(pid, now, "runs")
        # the last record of a CPU leaves a task no time there
        if pid and self.was_on.get(pid, cpu) != cpu and now < self.ends[cpu]:
            self.moves[pid] += 1
        self.was_on[pid] = cpu

    def take(self, cpu, pid, now, event, fields):
        self.run(cpu, now)
        if cpu not in self.on:
            self.arrive(cpu, pid, now)
            if len(self.on) == len(self.ends):
                self.certain = now
        if event == "sched_switch":
            state = int(fields["prev_state"], 0) & 0xff    # beyond: preempted in the kernel
            known = self.certain is not None
            left = "preempted" if not state else "absent" if state & 0x30 else "D" if state & 2 else "blocked"
            self.change(self.on[cpu], now, left if known else "unknown")
            self.soft[cpu] = self.hard[cpu] = 0
            self.arrive(cpu, int(fields["next_pid"]), now)
        elif event in ("sched_waking", "sched_wakeup"):
            woken = int(fields["pid"])
            if woken not in self.state and self.certain is not None:
                self.state[woken] = "blocked", self.certain
            if self.state.get(woken, ("unknown",))[0] in ("blocked", "D", "unknown"):
                self.change(woken, now, "waking" if self.certain is not None else "unknown")
        elif event == "sched_wakeup_new":
            self.state.setdefault(int(fields["pid"]), ("absent", self.begin))
            self.change(int(fields["pid"]), now, "waking" if self.certain is not None else "unknown")
        elif event == "softirq_entry":
            self.soft[cpu] += 1
        elif event == "softirq_exit" and self.soft[cpu]:
            self.soft[cpu] -= 1
        elif event == "irq_handler_entry" and self.interrupts:
            self.hard[cpu] += 1
        elif event == "irq_handler_exit" and self.hard[cpu]:
            self.hard[cpu] -= 1


def recount(text, interrupts):
    lines = [m for m in (re.match(r"\s*.*-(\d+)\s+\[(\d+)\]\S*\s.*?(\d+)\.(\d{9}): (\w+): +(.*)", line)
                         for line in text.splitlines()) if m]
    ends = {int(m[2]): int(m[3] + m[4]) for m in lines}
    count = Recount(int(lines[0][3] + lines[0][4]), ends, interrupts)
    for m in lines:
        fields = dict(re.findall(r"(\w+)=(\S*)", m[6]))
        cpu, now = int(m[2]), int(m[3] + m[4])
        count.take(cpu, int(m[1]), now, m[5], fields)
        if ends[cpu] == now:
            count.change(count.on[cpu], now, "unknown")
    for pid, (state, since) in count.state.items():
        count.change(pid, max(ends.values()), state)
    return count


def check_text(document, text):
    lacks = [key for lack in document["modes_not_recorded"] for key in lack["unknown"]]
    count = recount(text, "interrupt_ns" not in lacks)
    tasks = tasks_of(document)
    numbers = 0
    for pid, task in tasks.items():
        ours = count.ns[pid]
        assert task["total_ns"] == ours["total_ns"], (task, ours)
        assert task["pcpus_ns"] == {cpu: ns for cpu, ns in count.pcpus[pid].items() if ns}, task
        numbers += 1
        if not pid:
            continue
        for key in "preempted_ns", "waking_ns", "blocked_ns", "uninterruptible_ns", "absent_ns", "softirq_ns", \
                   "interrupt_ns":
            if task[key] is not None:
                assert task[key] == ours[key], (key, task, dict(ours))
                numbers += 1
        assert task["migrations"] == count.moves[pid], (task, count.moves[pid])
    missing = [pid for pid, ns in count.ns.items() if ns["total_ns"] and pid not in tasks]
    assert not missing, missing
    return numbers


def check_perf(document, text):
    tasks = tasks_of(document)
    numbers = 0
    for name, pid, count, ms in re.findall(r"^ *(\S.*?)\[(\d+)(?:/\d+)?\] +-?\d+ +(\d+) +([\d.]+) ", text, re.M):
        task = tasks[int(pid)]
        # perf does not count the time before the first switch
        if name == "perf":
            continue
        assert task["runs"] == int(count), (task, count)
        assert abs(task["total_ns"] / 1e6 - float(ms)) < 0.0011, (task, ms)
        numbers += 2
    return numbers


def check_sums(document, parts):
    """Windows side by side add up."""
    whole, sums = tasks_of(document), collections.defaultdict(collections.Counter)
    for part in parts:
        for pid, task in tasks_of(part).items():
            for key in MODES + STATES + ("uninterruptible_ns", "total_ns", "runs", "migrations", "faults"):
                sums[pid][key] += task.get(key) or 0
            sums[pid].update({"wakes": (task.get("wake_latency") or {}).get("count", 0)})
    for pid, task in whole.items():
        for key in MODES + ("preempted_ns", "waking_ns", "total_ns", "runs", "migrations", "faults"):
            assert sums[pid][key] == (task.get(key) or 0), (key, sums[pid][key], task)
        assert sums[pid]["wakes"] == (task.get("wake_latency") or {}).get("count", 0), task
    return len(whole)


def load(path):
    return json.load(open(path))


what, tasks, others = sys.argv[1], load(sys.argv[2]), sys.argv[3:]
if what == "laws":
    print(check_laws(tasks, list(csv.DictReader(open(others[0])))))
elif what == "text":
    print(check_text(tasks, open(others[0], errors="replace").read()))
elif what == "perf":
    print(check_perf(tasks, open(others[0]).read()))
else:
    print(check_sums(tasks, [load(path) for path in others]))
