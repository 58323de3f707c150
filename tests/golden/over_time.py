#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host's pCPUs interval by interval, by "report --over-time": laws, and a recount of trace-cmd's text.

usage: over_time.py laws OVER_TIME.json TASKS.json OVER_TIME.csv
       over_time.py text OVER_TIME.json TEXT	TEXT is what "trace-cmd report -R -t" prints
"""
import bisect
import collections
import csv
import json
import sys

from trace_text import records

MODES = "guest_ns", "user_ns", "syscall_ns", "interrupt_ns", "softirq_ns", "idle_ns", "mode_unknown_ns"
WAITS = "preempted_ns", "waking_ns"


def check_laws(document, tasks, rows):
    """Intervals have no gaps between them, and add up to what the tasks did in the window."""
    intervals = document["intervals"]
    begin, end = document["window_ns"]
    assert [one["from_ns"] for one in intervals] == [begin] + [one["to_ns"] for one in intervals[:-1]]
    assert intervals[-1]["to_ns"] == end and document["modes_not_recorded"] == tasks["modes_not_recorded"]
    for key in MODES + WAITS:
        theirs = [machine[key] for machine in tasks["machines"]]
        ours = [one[key] for one in intervals]
        assert (None in ours) == (None in theirs), (key, ours, theirs)
        if None not in ours:
            assert sum(ours) == sum(theirs), (key, sum(ours), sum(theirs))
    every = [task for machine in tasks["machines"] for task in machine["tasks"]]
    assert sum(one["switches"] for one in intervals) == sum(task["runs"] for task in every)
    assert sum(one["migrations"] for one in intervals) == sum(task.get("migrations") or 0 for task in every)
    n_pcpus = len({pcpu for task in every for pcpu in task["pcpus_ns"]})
    for one, row in zip(intervals, rows):
        assert sum(one[key] or 0 for key in MODES) <= n_pcpus * (one["to_ns"] - one["from_ns"]), one
        for key in one:
            if isinstance(one[key], float):
                assert abs(float(row[key]) - one[key]) <= 0.0005, (key, one, row)
            else:
                assert row[key] == str("" if one[key] is None else one[key]), (key, one, row)
    assert len(intervals) == len(rows)
    return len(intervals)


def check_text(document, path):
    """Switches, and the time of guests: from each entry to the next exit of the same thread. The trace has no softirqs,
    which come between a guest and the record of its exit."""
    intervals = document["intervals"]
    starts = [one["from_ns"] for one in intervals]
    switches, guest, entered = collections.Counter(), collections.Counter(), {}
    for ns, pid, _, name, _ in records(path):
        at = bisect.bisect(starts, ns) - 1
        if name == "sched_switch":
            switches[at] += 1
        elif name == "kvm_entry":
            entered[pid] = ns
        elif name == "kvm_exit" and pid in entered:
            since = entered.pop(pid)
            for i in range(bisect.bisect(starts, since) - 1, at + 1):
                guest[i] += min(ns, intervals[i]["to_ns"]) - max(since, intervals[i]["from_ns"])
    for i, one in enumerate(intervals):
        assert one["switches"] == switches[i], (one, switches[i])
        # a vCPU whose first record is an exit was in its guest before it
        assert one["guest_ns"] == guest[i] or (not i and one["guest_ns"] > guest[i]), (one, guest[i])
    return sum(switches.values())


if sys.argv[1] == "laws":
    print(check_laws(json.load(open(sys.argv[2])), json.load(open(sys.argv[3])), list(csv.DictReader(open(sys.argv[4])))))
else:
    print(check_text(json.load(open(sys.argv[2])), sys.argv[3]))
