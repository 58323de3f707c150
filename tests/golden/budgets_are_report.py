#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does check --max judge the numbers of report?

budgets_are_report.py REPORT.csv CHECK.csv PER: values of check, with limits of nothing, of each
machine or vcpu. Prints how many were compared.
"""
import csv
import sys


def main():
    reported, per = {}, sys.argv[3]
    with open(sys.argv[1], newline="") as table:
        for row in csv.DictReader(table):
            reported[row["section"], row["machine"], row["vcpu"], row["name"]] = row
    machine_of = {vcpu: machine for _, machine, vcpu, _ in reported if vcpu}
    compared = bad = 0
    with open(sys.argv[2], newline="") as table:
        for row in csv.DictReader(table):
            if row["of"] == "trace":
                continue
            name, _, statistic = row["limit_of"].partition(".")
            members = [vcpu for vcpu, machine in machine_of.items()
                       if row["of"] == (vcpu if per == "vcpu" else machine)]
            wanted = expected(reported, machine_of, members, name, statistic, per)
            if wanted is None:
                continue
            compared += 1
            value = float(row["value"] or 0)
            if abs(value - wanted) > 1e-6 * max(1, abs(wanted)):
                bad += 1
                print("%s %s: %s instead of %s" % (row["of"], row["limit_of"], row["value"], wanted),
                      file=sys.stderr)
    print(compared)
    return bad > 0


def expected(reported, machine_of, members, name, statistic, per):
    """The number of report; None: it has none."""
    def number(section, vcpu, what, column):
        row = reported.get((section, machine_of[vcpu], vcpu, what))
        return int(row[column]) if row and row[column] else 0

    known = sum(number("state", vcpu, state, "total_ns") for vcpu in members for state in
                ("guest", "hypervisor", "polling", "vmm", "preempted", "waking", "blocked",
                 "device_model", "offline"))
    reason = name[5:-1] if name.startswith("exit[") else None
    exits = [key for key in reported if key[0] == "exits" and key[2] in members and reason in (None, key[3])]
    if statistic == "count" or statistic == "rate":
        if name == "migration":
            count = sum(number("migrations", vcpu, "", "count") for vcpu in members)
        elif name.startswith("exit"):
            count = sum(int(reported[key]["count"] or 0) for key in exits)
        else:
            state = "preempted" if name == "steal" else "waking"
            count = sum(number("state", vcpu, state, "count") for vcpu in members)
        if statistic == "count":
            return count
        return 1e9 * count / known if known else None
    if statistic == "":
        if not known:
            return None
        if name in ("steal", "wake"):
            state = "preempted" if name == "steal" else "waking"
            return 100 * sum(number("state", vcpu, state, "total_ns") for vcpu in members) / known
        if name == "migration":
            return 100 * sum(number("migration_cost", vcpu, "", "total_ns") for vcpu in members) / known
        costs = [reported.get(("exit_cost",) + key[1:]) for key in exits]
        return 100 * sum(int(row["total_ns"]) for row in costs if row and row["total_ns"]) / known
    # percentiles of several are not those of each
    if len(members) != 1 or per != "vcpu":
        return None
    vcpu = members[0]
    if name == "migration":
        return number("migration_cost", vcpu, "", statistic + "_ns")
    if reason:
        return number("exit_cost", vcpu, reason, statistic + "_ns")
    if name == "exit":
        return None
    return number("state", vcpu, "preempted" if name == "steal" else "waking", statistic + "_ns")


sys.exit(main())
