#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Did "kshark-virt top" of a host print what a trace has that trace-cmd recorded at the same time?

top.py LIVE.csv HOST.dat KSHARK-VIRT: the output of top, and the trace

Of each interval within the trace, VM exits by reason and vCPU must be as many, except one at each of
its ends, and times in states differ by 2 % of the interval at most: both record the same events, one
after the other. What is one more in one interval is one less in the next.
"""
import collections
import csv
import re
import subprocess
import sys


def rows(lines):
    """By interval: the numbers of g1, the machine that both know."""
    intervals = collections.defaultdict(dict)
    for row in csv.DictReader(lines):
        if row["machine"].startswith("g1") and row["section"] in ("state", "exits"):
            vcpu = re.search(r"v\d+$", row["vcpu"])[0]
            intervals[int(row["from_ns"]), int(row["to_ns"])][vcpu, row["section"], row["name"]] = (
                int(row["ns"] or 0), int(row["count"] or 0))
    return intervals


def main():
    printed_by_top, trace, program = sys.argv[1:]
    live = rows(open(printed_by_top))
    window = subprocess.run([program, "top", "--quiet", "--format", "csv", "--interval", "1000", trace],
                            check=True, capture_output=True, text=True).stdout
    begin, end = list(rows(window.splitlines()))[0]
    compared = exits = 0
    differ = collections.Counter()
    worst = 0.0
    for (first, last), printed in sorted(live.items()):
        if first < begin or last > end:
            continue
        text = subprocess.run([program, "top", "--quiet", "--format", "csv", "--from", "%dns" % first, "--to",
                               "%dns" % last, "--interval", "%dns" % (last - first), trace],
                              check=True, capture_output=True, text=True).stdout
        recorded = rows(text.splitlines())[first, last]
        for what in sorted(set(printed) | set(recorded)):
            (a_ns, a_count), (b_ns, b_count) = printed.get(what, (0, 0)), recorded.get(what, (0, 0))
            if what[1] == "exits" and abs(a_count - b_count) > 2:
                sys.exit("%d: %s: %d instead of %d" % (first, what, a_count, b_count))
            exits += a_count if what[1] == "exits" else 0
            differ[what] += a_count - b_count if what[1] == "exits" else 0
            if what[1] == "state":
                worst = max(worst, abs(a_ns - b_ns) / (last - first))
        compared += 1
    print("%d intervals, %d VM exits; times differ by up to %.2f %%" % (compared, exits, 100 * worst))
    sys.exit(not compared or not exits or worst > 0.02 or any(abs(n) > 2 for n in differ.values()))


main()
