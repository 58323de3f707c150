#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""50-check-domu-tsc.py SCENARIO_OUT_DIR [TSC_OFFSET]

Proves how a domU's TSC relates to the trace's: every event of the domU's ftrace
(oracle-domU-trace-report.txt.gz, raw guest TSC) must fall into a stretch in which xentrace
says that this vCPU of domain 1 is running.  TSC_OFFSET (hex or decimal, as in notes.txt under
"xl debug-keys v") is what an HVM/PVH guest's TSC is ahead of the host's, mod 2^64; 0 for PV.
"""
import bisect
import gzip
import os
import re
import sys

folder = sys.argv[1]
offset = int(sys.argv[2], 0) if len(sys.argv) > 2 else 0
if offset >= 1 << 63:
    offset -= 1 << 64

def lines(name):
    with gzip.open(os.path.join(folder, name), "rt", errors="replace") as f:
        yield from f

khz = next(int(float(l.split(":")[1]) * 1000) for l in open(os.path.join(folder, "notes.txt"))
           if l.startswith("cpu_mhz"))
# xenalyze's own rounding of the clock, to get from its seconds back to TSC cycles
cycles_per_s = (khz * 1000 * 1024 // 10**9) / 1024 * 1e9

first = min(int(p[6]) for p in (l.split() for l in lines("oracle-dump-raw-reads.txt.gz"))
            if len(p) > 6 and p[0] == "R" and p[6].isdigit())
states = {}
for line in lines("oracle-dump-all.txt.gz"):
    m = re.match(r"\s*(\d+\.\d+) \S+ \S+ runstate_change d1v(\d+) \w+->(\w+)", line)
    if m:
        states.setdefault(int(m[2]), []).append((first + float(m[1]) * cycles_per_s, m[3]))
for s in states.values():
    s.sort()

inside = running = 0
for line in lines("oracle-domU-trace-report.txt.gz"):
    m = re.match(r".*\[(\d+)\]\s*(\d+): \w+:", line)
    s = m and states.get(int(m[1]))
    if not s:
        continue
    t = int(m[2]) - offset
    if s[0][0] <= t <= s[-1][0]:
        inside += 1
        running += s[bisect.bisect(s, (t, "")) - 1][1] == "running"
print(f"{folder}: {inside} domU events inside the trace, {running} of them while their vCPU runs")
