#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the pCPU and the culprit of each steal moment belong together?

worst_parts.py STEAL.json TABLES

STEAL.json is of report --worst --kind steal, TABLES what export wrote. The parts of a wait are found anew, from
the intervals of its vCPU; what a culprit that is a vCPU had, from the intervals of that one.
"""
import collections
import csv
import json
import sys


def load(folder):
    names = {row["id"]: row["name"] for row in csv.DictReader(open(folder + "/vcpu.csv"))}
    intervals = collections.defaultdict(list)
    for row in csv.DictReader(open(folder + "/interval.csv")):
        intervals[names[row["vcpu"]]].append(
            (int(row["start_ns"]), int(row["end_ns"]), row["state"], row["pcpu"]))
    return intervals


def parts_of(intervals, begin, end):
    """[from, to, pCPU] of what it waits for, one after the other."""
    parts = []
    for start, stop, state, pcpu in intervals:
        if start < begin or stop > end or start == stop:
            continue
        if state != "preempted":
            sys.exit("%s within a wait" % state)
        if parts and parts[-1][2] == pcpu:
            parts[-1][1] = stop
        else:
            parts.append([start, stop, pcpu])
    return parts


def time_on(intervals, pcpu, begin, end):
    return sum(min(stop, end) - max(start, begin) for start, stop, state, place in intervals
               if place == pcpu and state in ("guest", "hypervisor", "polling", "vmm") and
               start < end and stop > begin)


def main():
    intervals = load(sys.argv[2])
    moved = judged = 0
    for moment in json.load(open(sys.argv[1]))["worst"]:
        parts = parts_of(intervals[moment["vcpu"]], moment["start_ns"], moment["end_ns"])
        longest = max(parts, key=lambda part: part[1] - part[0])
        reported = moment.get("parts", [])
        if len(parts) > 1 or reported:
            moved += 1
            if [(part["from_ns"], part["to_ns"], str(part["pcpu"])) for part in reported] != \
                    [tuple(part) for part in parts]:
                sys.exit("parts: %s, not %s" % (reported, parts))
        if str(moment["pcpu"]) != longest[2]:
            sys.exit("%s: not p%s" % (moment, longest[2]))
        if moment["who_ns"] > longest[1] - longest[0]:
            sys.exit("%s: longer than its part" % moment)
        for begin, end, pcpu, who, ns in [(*longest, moment["who"], moment["who_ns"])] + \
                [(part["from_ns"], part["to_ns"], str(part["pcpu"]), part["who"], part["who_ns"])
                 for part in reported]:
            if who in intervals:
                judged += 1
                if time_on(intervals[who], pcpu, begin, end) != ns:
                    sys.exit("%s: %s did not have p%s for %d ns" % (moment, who, pcpu, ns))
    print(moved, judged)
    return not judged


sys.exit(main())
