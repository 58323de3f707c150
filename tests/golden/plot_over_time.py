#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""plot --over-time: its numbers are those of report --over-time, and its figure shows them.

usage: plot_over_time.py PLOT.csv REPORT.csv PLOT.svg	of the same intervals; prints how many numbers were compared
"""
import collections
import csv
import re
import sys
import xml.etree.ElementTree

KINDS = {"guest": "guest", "user": "user", "system": "system", "irq": "irq", "softirq": "softirq", "steal": "steal",
         "iowait": "iowait", "idle": "idle"}
MODES = {"guest": "guest_ns", "user": "user_ns", "system call": "syscall_ns", "interrupt": "interrupt_ns",
         "softirq": "softirq_ns", "mode not known": "mode_unknown_ns", "idle": "idle_ns"}


def known(text):
    return None if text == "" else float(text)


def share(row, keys, key):
    numbers = [known(row[one]) for one in keys if row[one] != ""]
    return known(row[key]) and 100 * float(row[key]) / sum(numbers) if numbers else None


def expected(panel, curve, row):
    """What the report's row says; False: another panel checks it, or states between samples."""
    seconds = (int(row["to_ns"]) - int(row["from_ns"])) / 1e9
    if panel == "CPU by records, %":
        return share(row, MODES.values(), MODES[curve])
    if panel == "CPU by kind, %":
        return share(row, ["sampled_%s_ns" % kind for kind in KINDS], "sampled_%s_ns" % curve)
    rates = {"records": (1, "switches"), "samples": (1, "sampled_switches"), "read": (1 << 20, "sampled_read_bytes"),
             "written": (1 << 20, "sampled_written_bytes"), "CPU": (1e7, "sampled_cpu_some_ns"),
             "memory": (1e7, "sampled_memory_some_ns"), "IO": (1e7, "sampled_io_some_ns"),
             "in D, by records": (1e9, "uninterruptible_ns")}
    if curve in rates:
        unit, key = rates[curve]
        return row[key] and float(row[key]) / unit / seconds
    if curve == "waiting for a pCPU, by records":
        return (float(row["preempted_ns"]) + float(row["waking_ns"])) / 1e9 / seconds
    states = {"runnable": "sampled_runnable", "blocked by a disk": "sampled_blocked"}
    return known(row[states[curve]]) if curve in states and row[states[curve]] else False


plot, report = (list(csv.DictReader(open(path))) for path in sys.argv[1:3])
rows = {row["from_ns"]: row for row in report}
curves, n = collections.defaultdict(list), 0
for one in plot:
    curves[one["panel"], one["curve"]].append(known(one["value"]))
    want = expected(one["panel"], one["curve"], rows[one["from_ns"]])
    if want is False:
        continue
    assert (want in ("", None)) == (one["value"] == ""), (one, want)
    if one["value"]:
        assert abs(float(one["value"]) - want) <= 0.0006, (one, want)
        n += 1
assert {len(values) for values in curves.values()} == {len(report)}

# parts of a stack add up, or are not known
stacks = collections.defaultdict(list)
for (panel, _), values in curves.items():
    if panel.startswith("CPU by"):
        stacks[panel].append(values)
for panel, values in stacks.items():
    for at in zip(*values):
        assert None in at or abs(sum(at) - 100) < 0.01, (panel, at)



def steps(path):
    """The heights of a curve's steps, from left to right: "M58 227.44h117.71v-.22h117.72"."""
    y, heights = 0, []
    for kind, numbers in re.findall(r"([Mhv])([-.\d ]+)", path):
        if kind == "M":
            y = float(numbers.split()[1])
        elif kind == "v":
            y += float(numbers)
        else:
            heights.append(y)
    return heights


# in the figure, a step is as high as its number
for group in xml.etree.ElementTree.parse(sys.argv[3]).iter("{http://www.w3.org/2000/svg}g"):
    if group.get("class") != "panel":
        continue
    base, top = map(float, re.match(r"M58 ([\d.]+)v-([\d.]+)h", next(
        path.get("d") for path in group if path.get("class") == "frame")).groups())
    high = float(next(text.text for text in group if text.get("class") == "tick"))
    curves_there = [one for one in group if one.get("class") == "curve"]
    below = [0] * len(report)
    for one in curves_there:
        values = curves[group.get("data-name"), one.get("data-name")]
        if None in values:
            continue
        path = one[-1].get("d")
        if one[-1].get("class") == "area":
            continue
        heights = steps(path)
        assert len(heights) == len(values), (path, values)
        for y, value in zip(heights, values):
            assert abs((base - y) / top * high - value) <= high / top * 0.05 + 0.001, (one.get("data-name"), y, value)
            n += 1
    # a stack's areas reach up to the sum of its parts, the last one first
    areas = {one.get("data-name"): one[-1].get("d") for one in curves_there if one[-1].get("class") == "area"}
    for name in reversed(list(areas)):
        values = curves[group.get("data-name"), name]
        below = [old + value for old, value in zip(below, values)]
        for y, value in zip(steps(areas[name])[:len(values)], below):
            assert abs((base - y) / top * high - value) <= 0.2, (name, y, value)
            n += 1
print(n)
