#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check what a host did for a guest's memory against what the guest's monitor did on purpose.

Usage: memory_truth.py EXITS.csv RAW.txt

EXITS.csv is the table "exit" of "kshark-virt export", RAW.txt comes from "trace-cmd report -R -t" of
samples/kvm-memory.dat. Marks in RAW.txt show when each phase began and ended; its name is the host's work in it.
samples/record/kvm/memvmm.c measured how long all touches of a phase took.
"""
import csv
import re
import sys

# ns that samples/record/kvm/memvmm.c printed for the phases in which the host waits on purpose
MEASURED = {
    "swap-in": 933858553, "file read": 819876913, "userfault": 803820438, "file read, private": 883114497,
}
TOUCHES = 24

phases = []
for line in open(sys.argv[2], errors="replace"):
    m = re.search(r" (\d+)\.(\d{9}): print: .*?(begin|end) ([a-zA-Z, -]+)", line)
    if m and m[3] == "begin":
        phases.append([m[4].strip(), int(m[1] + m[2]), None])
    elif m and phases[-1][0] == m[4].strip():
        phases[-1][2] = int(m[1] + m[2])
assert len(phases) == 12 and all(phase[2] for phase in phases), phases
exits = [row for row in csv.DictReader(open(sys.argv[1]))]
for name, begin, end in phases:
    mine = [e for e in exits if begin <= int(e["time_ns"]) < end and e["reason"] == "NPF"]
    wanted = name.split(",")[0]
    if wanted == "no fault":
        assert not mine, (name, mine)
        continue
    causes = [e["cause"] for e in mine]
    assert causes.count(wanted) == TOUCHES, (name, causes)
    # KVM may have to map a page again that was just copied
    if wanted == "copy on write":
        causes = [cause for cause in causes if cause != "mapped only"]
    # the guest's code may have been swapped out, too
    assert len(causes) - TOUCHES <= 2, (name, causes)
    cost = sum(int(e["cost_ns"]) for e in mine)
    if name in MEASURED:
        assert abs(cost - MEASURED[name]) < 0.05 * MEASURED[name], (name, cost, MEASURED[name])
    print(f"{name}: {len(mine)} exits, {cost} ns")
assert all(not e["cause"] for e in exits if e["reason"] != "NPF")
