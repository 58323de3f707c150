#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Did "kshark-virt top --in-kernel" count what trace-cmd recorded beside it?

top_in_kernel.py COUNTED.csv HOST.dat KSHARK-VIRT

Of the machine g1, in each interval within the trace: the time of a vCPU in a state differs by 5 % of the interval at
most. Of all these intervals: times in states differ by 2 %, and VM exits by 5 %, as KVM's counters are read a little
after the end of an interval. trace-cmd enables one system of events after the other: its first seconds do not count.
"""
import collections
import csv
import re
import subprocess
import sys

STATES = ("blocked", "waking", "preempted")
WARM_UP_NS = 2 * 10**9
LEAST_EXITS = 1000


def rows(text):
    """By interval: {(vCPU, or "" for the machine; section; name): (count, ns)}"""
    intervals = collections.defaultdict(dict)
    for row in csv.DictReader(text.splitlines()):
        if row["machine"].startswith("g1"):
            vcpu = re.search(r"v\d+$", row["vcpu"])
            intervals[int(row["from_ns"]), int(row["to_ns"])][
                vcpu[0] if vcpu else "", row["section"], row["name"]] = (int(row["count"] or 0), int(row["ns"] or 0))
    return intervals


def exits(interval, of_machine):
    return sum(count for (vcpu, section, _), (count, _) in interval.items()
               if section == "exits" and (not vcpu) == of_machine)


def main():
    counted, trace, program = sys.argv[1:]
    with open(counted, encoding="utf-8") as file:
        live = rows(file.read())

    def recorded(*options):
        return rows(subprocess.run([program, "top", "--quiet", "--format", "csv", *options, trace], check=True,
                                   capture_output=True, text=True).stdout)

    begin, end = list(recorded("--interval", "1000"))[0]
    sums = collections.defaultdict(lambda: [0, 0])
    compared, worst = 0, 0.0
    for (first, last), mine in sorted(live.items()):
        if first < begin + WARM_UP_NS or last > end:
            continue
        theirs = recorded("--from", "%dns" % first, "--to", "%dns" % last,
                          "--interval", "%dns" % (last - first))[first, last]
        compared += 1
        sums["exits"][0] += exits(mine, True)
        sums["exits"][1] += exits(theirs, False)
        for vcpu in {key[0] for key in theirs if key[0]}:
            for state in STATES:
                pair = [interval.get((vcpu, "state", state), (0, 0))[1] for interval in (mine, theirs)]
                worst = max(worst, abs(pair[0] - pair[1]) / (last - first))
                for i in range(2):
                    sums[state][i] += pair[i]
    print("%d intervals, %d VM exits of %d; times of an interval differ by up to %.2f %%; sums: %s" % (
        compared, *sums["exits"], 100 * worst,
        ", ".join("%s %.2f of %.2f ms" % (state, sums[state][0] / 1e6, sums[state][1] / 1e6) for state in STATES)))
    far = [name for name, (mine, theirs) in sums.items()
           if abs(mine - theirs) > (0.05 if name == "exits" else 0.02) * theirs + (0 if name == "exits" else 10**6)]
    sys.exit(bool(compared < 10 or sums["exits"][1] < LEAST_EXITS or worst > 0.05 or far))


main()
