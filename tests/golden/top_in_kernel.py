#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Has 'top --in-kernel' counted what the scheduler's events say?

top_in_kernel.py TRACE TOP.csv TIDS MISSED

TRACE is what ftrace recorded at the same time, as text, with the clock mono; TIDS has the threads of the vCPUs,
in order. MISSED is how many events top says that it has not seen. Recounts each interval from the events: all numbers
of a vCPU and an interval agree, but for that number of events at most. Prints how many numbers were compared.
"""
import collections
import csv
import re
import sys

LINE = re.compile(r"^\s*(.{16})-(\d+)\s+\[(\d+)\] \S+\s+(\d+)\.(\d+): (sched_\w+): (.*)$")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> next_comm=(.*) "
                    r"next_pid=(\d+) next_prio")
WAKE = re.compile(r"comm=.* pid=(\d+) ")
MIGRATE = re.compile(r"comm=.* pid=(\d+) .*dest_cpu=(\d+)")


class Thread:
    """Its times: (state, from, to), with the pid that has the pCPU while it is preempted."""

    def __init__(self):
        self.state, self.since, self.cpu = None, None, None
        self.slice = None
        self.times, self.slices, self.begins, self.wakes = [], [], [], []

    def turn(self, state, now):
        if self.state:
            self.times.append((self.state, self.since, now))
        if self.state == "waking" and state == "on":
            self.wakes.append((self.since, now - self.since))
        self.state, self.since = state, now
        self.begins.append((state, now))

    def end_slice(self, pid, now):
        self.slices.append((pid, self.slice, now))
        self.slice = now


def read(path, tids):
    threads = {tid: Thread() for tid in tids}
    missing = 0
    on = collections.defaultdict(lambda: None)
    for line in open(path, errors="replace"):
        match = LINE.match(line)
        if not match:
            continue
        cpu, now, event, text = int(match[3]), int(match[4] + match[5]) * 1000, match[6], match[7]
        if event == "sched_switch":
            prev, state, _, nxt = SWITCH.match(text).groups()
            prev, nxt = int(prev), int(nxt)
            left, came = threads.get(prev), threads.get(nxt)
            if left and left.state and left.state != "on":
                # it got this pCPU without an event
                missing += 1
                if left.state == "preempted":
                    left.turn("unknown", left.slice)
                left.state, left.since = "unknown", left.since
            if came and came.state == "preempted":
                came.end_slice(prev, now)
            if came:
                came.turn("on", now)
            for thread in threads.values():
                if thread.state == "preempted" and thread.cpu == cpu and thread is not left:
                    thread.end_slice(prev, now)
            if left:
                state = state.rstrip("+") if state != "R+" else "R"
                left.turn("preempted" if state == "R" else "offline" if state in "TtXZ" else "blocked", now)
                left.cpu, left.slice = cpu, now
            on[cpu] = nxt
        elif event in ("sched_wakeup", "sched_wakeup_new"):
            thread = threads.get(int(WAKE.match(text)[1]))
            if thread and thread.state in ("blocked", "offline"):
                thread.turn("waking", now)
        elif event == "sched_migrate_task":
            pid, dest = map(int, MIGRATE.match(text).groups())
            thread = threads.get(pid)
            if thread and thread.state == "preempted":
                thread.end_slice(on[thread.cpu], now)
                thread.cpu = dest
    for thread in threads.values():
        if thread.state:
            thread.times.append((thread.state, thread.since, 1 << 62))
        if thread.state == "preempted":
            thread.slices.append((on[thread.cpu], thread.slice, 1 << 62))
    return threads, missing


def cut(begin, end, lo, hi):
    return max(0, min(end, hi) - max(begin, lo))


def check_sums(got, length):
    """Parts add up, exactly."""
    states = {name: int(row["ns"]) for (section, name), row in got.items() if section == "state" and row["ns"]}
    assert sum(states.values()) == length, (length, states)
    culprits = sum(int(row["ns"]) for (section, _), row in got.items() if section == "culprit")
    assert culprits == states.get("preempted", 0), (culprits, states)


def number(got, section, name, column):
    row = got.get((section, name))
    return int(row[column] or 0) if row else 0


def compare(got, thread, lo, hi, tids):
    """What it is, by the events and by top, and how far that may differ."""
    want = collections.Counter()
    for state, begin, end in thread.times:
        want["unknown" if state == "on" else state] += cut(begin, end, lo, hi)
    begins = collections.Counter(state for state, at in thread.begins if lo <= at < hi)
    # an event has two times, before and after one of both tracers: a CPU may stand still in between
    slack = 200000 + 2000 * sum(begins.values())
    for state in "preempted", "waking", "blocked", "unknown":
        yield state + " ns", want[state], number(got, "state", state, "ns"), slack
    for state in "preempted", "waking", "blocked":
        yield state, begins[state], number(got, "state", state, "count"), 1
    by_pid, named = collections.Counter(), collections.Counter()
    for pid, begin, end in thread.slices:
        by_pid[pid] += cut(begin, end, lo, hi)
    for (section, name), row in got.items():
        if section == "culprit":
            vcpu = re.search(r" v(\d+)$", name)
            named[0 if name == "nobody" else tids[int(vcpu[1])] if vcpu else -2 if name == "others" else
                  int(name.rsplit("-", 1)[1])] += int(row["ns"])
    for pid in by_pid:
        yield "by %s ns" % pid, by_pid[pid], named[pid], slack + named[-2]
    wakes = sorted(ns for at, ns in thread.wakes if lo <= at < hi)
    yield "wakes", len(wakes), number(got, "wakes", "", "complete"), 1
    if wakes:
        # a step is an eighth of a power of two, and top has its end
        p99 = wakes[max(0, -(-len(wakes) * 99 // 100) - 1)]
        yield "p99", p99 * 1.06, number(got, "wakes", "", "p99_ns"), p99 * 0.08 + 100000


def main():
    tids = [int(line) for line in open(sys.argv[3])]
    threads, missing = read(sys.argv[1], tids)
    rows = collections.defaultdict(dict)
    for row in csv.DictReader(open(sys.argv[2])):
        if row["section"] != "warning" and row["vcpu"]:
            key = int(row["from_ns"]), int(row["to_ns"]), int(row["vcpu"].rsplit("v", 1)[1])
            rows[key][row["section"], row["name"]] = row
    intervals = sorted({key[:2] for key in rows})
    assert all(a[1] == b[0] for a, b in zip(intervals, intervals[1:])), "gaps"
    n = missed = 0
    worst = 0
    # the first one began before the trace was complete, the last one is cut by the end
    for lo, hi in intervals[1:-1]:
        for i, tid in enumerate(tids):
            got, thread = rows[lo, hi, i], threads[tid]
            check_sums(got, hi - lo)
            numbers = list(compare(got, thread, lo, hi, tids))
            off = [(name, want, have, slack) for name, want, have, slack in numbers if abs(want - have) > slack]
            n += len(numbers)
            if off:
                missed += 1
                print(lo, "v%d" % i, *off, file=sys.stderr)
            else:
                worst = max([worst] + [abs(want - have) for name, want, have, _ in numbers if name.endswith(" ns")])
    print(n, "numbers of", len(intervals) - 2, "intervals; else off by at most", worst, "ns")
    # On some kernels, either of both does not see all events; top says how many. A CPU of a virtual machine that
    # stands still between the two times of an event makes them differ, too.
    allowed = int(sys.argv[4]) + missing + (len(intervals) - 2) * len(tids) // 20
    assert missed <= allowed, (missed, allowed, missing)


main()
