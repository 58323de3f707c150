#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the intervals of top add up to the numbers of report, to the nanosecond?

top_sums.py REPORT.json TOP.json TOP.csv TOP.prom

Prints how many numbers were compared, and in how many intervals they were.
"""
import collections
import csv
import json

import known
import re
import sys
from decimal import Decimal


def add(sums, key, value):
    if value:
        sums[key] += value


def of_report(report):
    sums = collections.Counter()
    begin, end = report["window_ns"]
    for machine in report["machines"]:
        who = machine["id"], None
        for state, stretches in machine["states"].items():
            add(sums, (who, "machine_state", state, "ns"), stretches["total_ns"])
            add(sums, (who, "machine_state", state, "count"), stretches["count"])
        for vcpu in machine["vcpus"]:
            who = machine["id"], vcpu["id"]
            for state, stretches in vcpu["states"].items():
                add(sums, (who, "state", state, "ns"), stretches["total_ns"])
                add(sums, (who, "state", state, "count"), stretches["count"])
            for state, ns in vcpu.get("unsplit_ns", {}).items():
                add(sums, (who, "unsplit", state, "ns"), ns)
            waking = vcpu["states"]["waking"]
            add(sums, (who, "wakes", None, "count"), waking["count"])
            add(sums, (who, "wakes", None, "complete"), waking.get("complete"))
            for exit in vcpu["exits"]:
                for value, key in ("count",) * 2, ("complete",) * 2, ("ns", "total_ns"):
                    add(sums, (who, "exits", exit["reason"], value), exit[key])
            for culprit in vcpu["culprits"]:
                add(sums, (who, "culprit", culprit["who"], "ns"), culprit["total_ns"])
    for pcpu in report["pcpus"]:
        add(sums, (pcpu["pcpu"], "lost", None, "ns"), pcpu["lost_ns"])
    for loss in report["lost"]["windows"]:
        if begin <= loss["from_ns"] < end:
            add(sums, (loss["pcpu"], "lost", None, "count"), loss["records"])
    return sums


def of_top(top, window):
    sums, at = collections.Counter(), window[0]
    for interval in top["intervals"]:
        if interval["from_ns"] != at or interval["to_ns"] <= at:
            sys.exit("an interval begins at %d, not %d" % (interval["from_ns"], at))
        at = interval["to_ns"]
        for fact in interval["facts"]:
            who = (fact["machine_id"], fact.get("vcpu_id")) if "machine" in fact else fact["pcpu"]
            for value in "count", "complete", "ns":
                if fact["section"] == "wakes" and value == "ns":
                    continue
                add(sums, (who, fact["section"], fact.get("name"), value), fact.get(value))
    if at != window[1]:
        sys.exit("the last interval ends at %d" % at)
    return sums


def compare(what, left, right):
    for key in sorted(set(left) | set(right), key=repr):
        if left[key] != right[key]:
            sys.exit("%s: %s: %s, not %s" % (what, key, right[key], left[key]))


def of_csv(path):
    sums = collections.Counter()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            for value in "count", "complete", "ns":
                add(sums, (row["section"], value), int(row[value] or 0))
    return sums


def by_section(top):
    sums = collections.Counter()
    for interval in top["intervals"]:
        for fact in interval["facts"]:
            for value in "count", "complete", "ns":
                add(sums, (fact["section"], value), fact.get(value))
    return sums


FAMILIES = {
    "machine_state_seconds": ("machine_state", "ns"), "state_seconds": ("state", "ns"),
    "exits": ("exits", "count"), "exit_cost_seconds": ("exits", "ns"),
    "wakes": ("wakes", "count"), "steal_seconds": ("culprit", "ns"),
    "lost_seconds": ("lost", "ns"), "lost_records": ("lost", "count"),
}


def of_metrics(path):
    sums, seen = collections.Counter(), set()
    lines = open(path, encoding="utf-8").read().splitlines()
    if lines[-1] != "# EOF":
        sys.exit("OpenMetrics without an end")
    for line in lines[:-1]:
        if line.startswith("#"):
            family = line.split()[2]
            continue
        match = re.fullmatch(r'(\w+)(\{(?:\w+="(?:[^"\\]|\\["\\])*",?)*\}) ([0-9.]+)', line)
        if not match or not match[1].startswith(family) or match[1] + match[2] in seen:
            sys.exit("no sample, or once more: " + line)
        seen.add(match[1] + match[2])
        key = FAMILIES.get(family[len("kshark_virt_"):])
        if key:
            add(sums, key, int(Decimal(match[3]) * (10 ** 9 if key[1] == "ns" else 1)))
    return sums


def main():
    report, top = (known.load(open(path)) for path in sys.argv[1:3])
    expected = of_report(report)
    compare("sums", expected, of_top(top, report["window_ns"]))
    sections = by_section(top)
    compare("CSV", sections, of_csv(sys.argv[3]))
    metrics = of_metrics(sys.argv[4])
    compare("OpenMetrics", collections.Counter({key: n for key, n in sections.items()
                                                if key in FAMILIES.values()}), metrics)
    print(len(expected), len(top["intervals"]))


main()
