#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""plot_csv.py OURS THEIRS TOLERANCE: do both say where each vCPU was put when?

THEIRS has lines "vcpu,time_ns,pcpu". Ours may begin earlier: who runs at the beginning is known
from the first switch away, pCPU by pCPU. Times may differ by TOLERANCE ns.
"""
import sys
from collections import defaultdict


def read(path):
    lines = defaultdict(list)
    last = None
    for line in open(path):
        vcpu, time, pcpu = line.strip().split(",")
        if vcpu == "vcpu":
            continue
        if last is not None and path == sys.argv[1] and int(time) < last:
            sys.exit("not in order of time: " + line)
        last = int(time)
        lines[vcpu].append((int(time), int(pcpu)))
    return lines


ours, theirs, tolerance = read(sys.argv[1]), read(sys.argv[2]), int(sys.argv[3])
bad = total = worst = 0
for vcpu, wanted in theirs.items():
    # the beginning is the other's first line
    got = [line for line in ours[vcpu] if line[0] >= wanted[0][0] - tolerance]
    if got and wanted[0][1] != got[0][1] and len(got) == len(wanted) + 1:
        got = got[1:]    # the old pCPU of a migration that only we know
    extra = len(ours[vcpu]) - len(got)
    if extra > 4:
        print("%s: %d lines before the first one" % (vcpu, extra))
        bad += 1
    if len(got) != len(wanted):
        print("%s: %d lines instead of %d" % (vcpu, len(got), len(wanted)))
        bad += 1
    for a, b in zip(got, wanted):
        worst = max(worst, abs(a[0] - b[0]))
        if a[1] != b[1] or abs(a[0] - b[0]) > tolerance:
            print("%s: %s instead of %s" % (vcpu, a, b))
            bad += 1
            break
    total += len(wanted)
if not total:
    sys.exit("nothing to compare")
print("%d lines of %d vCPUs, times differ by up to %d ns" % (total, len(theirs), worst))
sys.exit(bad > 0)
