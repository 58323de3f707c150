# SPDX-License-Identifier: LGPL-2.1-or-later
"""split_dat.py FOLDER TRACE...: a part of a trace.dat has the numbers of the whole trace in its window,
and merged parts have those of the whole trace.

The records are those that trace-cmd lists of the window, by times that trace-cmd computes.
"""
import json
import os
import re
import subprocess
import sys

import split_lib
from split_lib import run, window

folder = sys.argv[1]
judge = split_lib.Judge()
TIME = re.compile(r"\s(\d+)\.(\d{9}):\s")


def facts(path, *words):
    """A report, without the file's name and warnings about all of its records."""
    text = judge.must("report", "-q", "-f", "json", "--full", *words, path).replace(path, "FILE")
    report = json.loads(text)
    report.pop("warnings", None)
    return report


def compare(whole, words, part, inner=()):
    judge.compared += 1
    if facts(whole, *words) != facts(part, *inner):
        judge.differ += 1
        print("%s %s: %s differs" % (whole, " ".join(words), part))


def records(path):
    """What trace-cmd lists, with times in ns; what it says of losses belongs to other records."""
    text = subprocess.run(["trace-cmd", "report", "-t", "-i", path], capture_output=True, text=True,
                          errors="surrogateescape", check=True).stdout
    found = [(TIME.search(line), " ".join(line.split())) for line in text.splitlines()]
    return [(int(time[1] + time[2]), line) for time, line in found if time]


def check_windows(path, begin, end):
    listed = records(path)
    length = end - begin
    for first, last in ((begin, begin + length // 3), (begin + length // 3, begin + length * 2 // 3),
                        (begin + length * 2 // 3, end), (begin + length // 2, begin + length * 5 // 9)):
        part = os.path.join(folder, "part.dat")
        result = run("split", "-q", *window(first, last), "-o", part, path)
        if result.returncode == 3 and "there is no record between" in result.stderr:
            continue
        if result.returncode:
            sys.exit("split %s: %d: %s" % (path, result.returncode, result.stderr))
        compare(path, window(first, last), part)
        inner = window(first + (last - first) // 4, last - (last - first) // 4)
        compare(path, inner, part, inner)
        if listed and [line for time, line in listed if first <= time < last] != \
                [line for _, line in records(part)]:
            judge.differ += 1
            print("%s from %d to %d: the records differ" % (path, first, last))


def check_merge(path, begin, end):
    cuts = [begin, begin + (end - begin) // 4, begin + (end - begin) * 2 // 3, end]
    parts = [os.path.join(folder, "part%d.dat" % i) for i in range(3)]
    for part, first, last in zip(parts, cuts, cuts[1:]):
        if run("split", "-q", *window(first, last), "-o", part, path).returncode:
            return
    merged = os.path.join(folder, "merged.dat")
    judge.must("merge", "-q", "-o", merged, parts[2], parts[0], parts[1])
    compare(path, (), merged)
    if records(path) != records(merged):
        judge.differ += 1
        print("%s: the records of merged parts differ" % path)
    # a part in the middle is missing: nothing is known of its time, and nothing is zero
    judge.must("merge", "-q", "-o", merged, parts[2], parts[0])
    report = facts(merged, *window(cuts[1], cuts[2]))
    judge.compared += 1
    states = [v["states"] for m in report["machines"] for v in m["vcpus"]]
    if any(d["total_ns"] for s in states for name, d in s.items() if name != "unknown") or \
            any(s["unknown"]["total_ns"] != cuts[2] - cuts[1] for s in states):
        judge.differ += 1
        print("%s: a missing part is taken to be known" % path)


for trace in sys.argv[2:]:
    ends = split_lib.ends(trace)[:2]
    check_windows(trace, *ends)
    check_merge(trace, *ends)
judge.finish(3 * len(sys.argv[2:]))
