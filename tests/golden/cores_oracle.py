#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt check --core-isolation" against the records themselves.

Usage: cores_oracle.py xen TRACE DUMP.csv HZ CHECK.csv PAIR...
       cores_oracle.py kvm HOST.txt REPORT.json CHECK.csv PAIR...

Who was on which pCPU is computed as report_oracle.py and kvm_oracle.py do it, from what dump and
trace-cmd print; a PAIR such as 0,1 are two pCPUs that share a core. Prints how many rows are the same.
"""
import csv
import json
import sys

import kvm_oracle
import report_oracle


def xen_runs(trace, dump, hz):
    """{pcpu: [(from, to, vcpu, machine)]}, in order"""
    rows = report_oracle.read_rows(dump)
    lines, end = report_oracle.timelines(rows, int(hz), report_oracle.first_turn(trace))
    runs = {}
    for vcpu, line in lines.items():
        for start, stop, state, pcpu in line.intervals(end):
            if state in report_oracle.RUN:
                runs.setdefault(pcpu, []).append((start, stop, "d%dv%d" % vcpu, vcpu[0]))
    return runs


def kvm_runs(host, report):
    records = kvm_oracle.read(host)
    machines = json.load(open(report))["machines"]
    vcpus = {v["tid"]: (v["vcpu"], m["machine"]) for m in machines for v in m["vcpus"]}
    occupants = kvm_oracle.occupants(records, max(r.ns for r in records) + 1)
    return {cpu: [(s.start, s.end, *vcpus[s.what]) for s in segments if s.what in vcpus]
            for cpu, segments in occupants.items()}


def whole(runs):
    """What follows on itself is one: a change of state ends no stay."""
    joined = []
    for run in sorted(runs):
        if joined and joined[-1][1] == run[0] and joined[-1][2:] == run[2:]:
            joined[-1] = (joined[-1][0], *run[1:])
        else:
            joined.append(run)
    return [run for run in joined if run[1] > run[0]]


def violations(runs, a, b):
    for x in whole(runs.get(a, [])):
        for y in whole(runs.get(b, [])):
            start, end = max(x[0], y[0]), min(x[1], y[1])
            if start < end and x[3] != y[3]:
                yield start, end - start, a, x[2], b, y[2]


def main(kind, *args):
    runs = xen_runs(*args[:3]) if kind == "xen" else kvm_runs(*args[:2])
    check, *pairs = args[3:] if kind == "xen" else args[2:]
    wanted = sorted(v for pair in pairs for v in violations(runs, *map(int, pair.split(","))))
    got = sorted((int(r["time_ns"]), int(r["length_ns"]), int(r["pcpu"]), r["vcpu"],
                  int(r["other_pcpu"]), r["other_vcpu"]) for r in csv.DictReader(open(check)))
    for row in set(wanted) ^ set(got):
        print("  only in the %s: %s" % ("records" if row in wanted else "check", row))
    print(len(wanted))
    return wanted != got


sys.exit(main(*sys.argv[1:]))
