#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check windows of "kshark-virt report" against the list of all its worst moments.

Usage: report_windows.py KSHARK-VIRT TRACE REPORT.json

REPORT.json is of the whole trace. In windows at random, the waits, exits and migrations of each
vCPU must be those moments that lie in the window, and their percentiles those of their costs.
"""
import json
import random
import subprocess
import sys

errors = 0
compared = 0


def expect(what, got, wanted):
    global errors, compared
    compared += 1
    if got != wanted:
        errors += 1
        print("  %s: %r in the report, %r in the list" % (what, got, wanted))


def report(*args):
    out = subprocess.run([sys.argv[1], "report", "--quiet", "--format", "json", *args],
                         stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def percentile(values, q):
    """The smallest one that this percentage does not exceed."""
    return next(v for i, v in enumerate(values) if (i + 1) * 100 >= q * len(values))


def check_costs(what, dist, costs):
    costs = sorted(costs)
    expect(what + " complete", dist.get("complete", dist["count"]), len(costs))
    if not costs:
        return
    for q in (5, 50, 95, 99):
        expect("%s p%d" % (what, q), dist["p%d_ns" % q], percentile(costs, q))
    for name, wanted in (("min_ns", costs[0]), ("max_ns", costs[-1]), ("mean_ns", (sum(costs) + len(costs) // 2) // len(costs))):
        expect("%s %s" % (what, name), dist[name], wanted)


def check_vcpu(vcpu, moments, begin):
    name = vcpu["vcpu"]
    for kind, state in (("wake", "waking"), ("steal", "preempted")):
        mine = [m for m in moments if m["kind"] == kind]
        dist = vcpu["states"][state]
        # what goes on when the trace begins has not begun
        mine = [m for m in mine if m["time_ns"] > begin]
        expect("%s %s" % (name, kind), dist["count"], len(mine))
        check_costs("%s %s" % (name, kind), dist,
                    [m["cost_ns"] for m in mine if m["begun"] and m["complete"]])
    for exit in vcpu["exits"]:
        costs = [m["cost_ns"] for m in moments
                 if m["kind"] == "exit" and m["reason"] == exit["reason"]]
        check_costs("%s %s" % (name, exit["reason"]), exit, costs)
    mine = [m for m in moments if m["kind"] == "migration"]
    expect(name + " migrations", vcpu["migrations"], len(mine))
    # the unknown time of the gap may have been a wait
    check_costs(name + " migrations", vcpu["migration_cost"],
                [m["cost_ns"] for m in mine
                 if m["complete"] and not m["states_ns"]["unknown"]])


def main():
    whole = json.load(open(sys.argv[3]))
    begin, end = whole["window_ns"]
    moments = report("--worst", "1000000", sys.argv[2])["worst"]
    rng = random.Random(54)
    windows = [(begin, end)]
    for _ in range(8):
        length = (end - begin) >> rng.randrange(8)
        start = rng.randrange(begin, end - length + 1)
        windows.append((start, start + length))
    for a, b in windows:
        window = report("--from", "%dns" % a, "--to", "%dns" % b, sys.argv[2])
        for vcpu in (v for m in window["machines"] for v in m["vcpus"]):
            check_vcpu(vcpu, [m for m in moments if m.get("vcpu") == vcpu["vcpu"] and
                              a <= m["time_ns"] < b], begin)
    print("  %d numbers compared, %d differ" % (compared, errors))
    return errors > 0 or not moments


sys.exit(main())
