#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare numbers of a perf.data file with those of perf: perf_oracle.py KVM-STAT TIMEHIST REPORT.csv THREADS.csv

KVM-STAT is what "perf kvm -i FILE stat report" prints, TIMEHIST what "perf sched timehist -i FILE --summary" prints,
the others what "kshark-virt report --format csv FILE" prints, without and with --threads.
"""
import csv
import re
import sys

NAMES = {"msr": "MSR", "interrupt": "INTR", "hlt": "HLT", "cpuid": "CPUID", "vintr": "VINTR"}

bad = checks = 0


def same(what, ours, theirs, slack=0.0):
    global bad, checks
    checks += 1
    if abs(ours - theirs) > slack:
        print("%s: %s instead of perf's %s" % (what, ours, theirs))
        bad += 1


kvm_stat, timehist = open(sys.argv[1]).read(), open(sys.argv[2]).read()
rows, threads = (list(csv.DictReader(open(path))) for path in sys.argv[3:5])
vcpus = sorted(row["vcpu"] for row in rows if row["section"] == "runs")

# Exits whose entry follows, of all vCPUs. One that waits (HLT) costs perf the sleep as well.
for name, samples, least, most, mean in re.findall(
        r"^ *(\w+) +(\d+) +[\d.]+% +[\d.]+% +([\d.]+)us +([\d.]+)us +([\d.]+)us", kvm_stat, re.M):
    ours = NAMES[name]
    cost = next(row for row in rows if row["section"] == "exit_cost" and row["name"] == ours and not row["vcpu"])
    same(ours + " samples", int(cost["count"]), int(samples))
    if ours == "HLT":
        continue
    for column, theirs in ("min_ns", least), ("max_ns", most), ("mean_ns", mean):
        same("%s %s" % (ours, column), int(cost[column]) / 1e3, float(theirs), 0.006)

# Runs of vCPUs' threads and of QEMU's others.
runs = {}
for name, count, time in re.findall(r"^ *(\S.*?)\[[\d/]+\] +-?\d+ +(\d+) +([\d.]+) ", timehist, re.M):
    runs[name] = int(count), float(time)
for number, vcpu in enumerate(vcpus):
    row = next(row for row in rows if row["section"] == "runs" and row["vcpu"] == vcpu)
    count, time = runs["CPU %d/KVM" % number]
    same(vcpu + " runs", int(row["count"]), count)
    same(vcpu + " time", int(row["total_ns"]) / 1e6, time, 0.0006)
others = [row for row in threads if row["thread"].startswith("qemu-system-x86") and not row["pcpu"]]
for row in others:
    count, time = runs["qemu-system-x86"]
    same(row["name"] + " runs", int(row["runs"]), count)
    same(row["name"] + " time", int(row["total_ns"]) / 1e6, time, 0.0006)

print("%d numbers compared, %d differ" % (checks, bad))
if checks < 20 or bad:
    sys.exit(1)
