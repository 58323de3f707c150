#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Are the polls of "kshark-virt report" those of the records of kvm_vcpu_wakeup?

polling.py REPORT.json REPORT.csv RAW.txt BEGIN-NS END-NS

RAW.txt comes from "trace-cmd report -R -t". A record has the length of a halt, and whether its thread slept: the poll
then lasts until sched_switch takes the thread from its CPU. Prints how many polls were compared.
"""
import bisect
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"^.*-(\d+)\s+\[(\d+)\]\S*\s+(?:[^\s\d]\S*\s+)?(\d+)\.(\d{9}): (\w+): +(.*)$")
RUNNABLE = 0xff


def polls_of(path):
    """By vCPU: whether it slept, begin and end."""
    sleeps, halts, vcpus = collections.defaultdict(list), [], {}
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        pid, ns, event = int(m[1]), int(m[3]) * 10**9 + int(m[4]), m[5]
        field = dict(re.findall(r"(\w+)=(\S+)", m[6]))
        if event == "sched_switch" and int(field["prev_state"], 0) & RUNNABLE:
            sleeps[int(field["prev_pid"], 0)].append(ns)
        elif event == "kvm_vcpu_wakeup":
            halts.append((pid, ns, int(field["ns"], 0), int(field["waited"], 0)))
        elif event == "kvm_entry":
            vcpus[pid] = int(field["vcpu_id"], 0)
    polls = collections.defaultdict(list)
    for pid, to, length, waited in halts:
        begin = to - length
        if waited:
            of = sleeps[pid]
            i = bisect.bisect_left(of, begin)
            if i == len(of) or of[i] >= to:
                continue
            to = of[i]
        if to > begin:
            polls[vcpus[pid]].append((bool(waited), begin, to))
    return polls


def main():
    report, begin, end = json.load(open(sys.argv[1])), int(sys.argv[4]), int(sys.argv[5])
    polls = polls_of(sys.argv[3])
    rows = {(row["vcpu"], row["name"]): (int(row["count"] or 0), int(row["total_ns"] or 0))
            for row in csv.DictReader(open(sys.argv[2], newline="")) if row["section"] == "polls" and row["vcpu"]}
    states = {vcpu["vcpu"]: vcpu["states"] for machine in report["machines"] for vcpu in machine["vcpus"]}
    machine, = report["halt_polling"]
    compared, sums = 0, collections.Counter()
    for vcpu in machine["vcpus"]:
        of = polls[int(re.search(r"\d+$", vcpu["vcpu"])[0])]
        for name, slept in ("hits", False), ("misses", True):
            count = sum(1 for waited, at, _ in of if waited == slept and begin <= at < end)
            ns = sum(max(0, min(to, end) - max(at, begin)) for waited, at, to in of if waited == slept)
            assert (vcpu[name]["count"], vcpu[name]["total_ns"]) == (count, ns) == rows[vcpu["vcpu"], name], \
                (vcpu, name, count, ns)
            compared += count
        assert vcpu["unknown"] == {"count": 0, "total_ns": 0}
        # the parts are the state
        assert sum(vcpu[name]["total_ns"] for name in ("hits", "misses", "unknown")) == \
            states[vcpu["vcpu"]]["polling"]["total_ns"]
        waking, hits = states[vcpu["vcpu"]]["waking"], vcpu["hits"]["count"]
        assert abs(vcpu["about_saved_ns"] - hits * waking.get("mean_ns", 0)) <= 1 + hits, vcpu
        for name in "hits", "misses":
            sums[name] += vcpu[name]["count"]
        sums["saved"] += vcpu["about_saved_ns"]
    assert all(machine[name]["count"] == sums[name] for name in ("hits", "misses"))
    assert abs(machine["about_saved_ns"] - sums["saved"]) <= len(machine["vcpus"])
    print(compared)


main()
