#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the sums of an export equal what report tells, to the nanosecond?

export_sums.py REPORT.json csv FOLDER
export_sums.py REPORT.json sqlite DATABASE

By vCPU: time by state, exits by reason with their cost and where it went, migrations, wake-ups;
records that are lost; and that intervals follow each other without a gap. Prints how many numbers
were compared.
"""
import collections
import csv
import json
import os
import sqlite3
import sys


NAMES = ("host", "vcpu", "interval", "exit", "migration", "wake", "loss")


def csv_tables(path):
    csv.field_size_limit(1 << 30)
    for name in NAMES:
        with open(os.path.join(path, name + ".csv"), newline="") as table:
            yield name, list(csv.DictReader(table))


def sqlite_tables(path):
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok" or \
            database.execute("PRAGMA foreign_key_check").fetchall():
        sys.exit("%s is damaged, or has references to nothing" % path)
    for name in NAMES:
        yield name, database.execute('SELECT * FROM "%s" ORDER BY rowid' % name).fetchall()


READERS = {"csv": csv_tables, "sqlite": sqlite_tables}


def number(value):
    """Empty is not 0."""
    return None if value in ("", None) else int(value)


def sums(tables):
    """All numbers that report has, too: {(vCPU's number, what ...): value}."""
    of = collections.Counter()
    names = {number(row["id"]): (number(row["machine"]), number(row["number"]))
             for row in tables["vcpu"]}
    ends = {}
    for row in tables["interval"]:
        vcpu, start, end = (number(row[key]) for key in ("vcpu", "start_ns", "end_ns"))
        if end < start or ends.get(vcpu, start) != start:
            sys.exit("an interval of vCPU %d does not begin where another ends: %d" % (vcpu, start))
        ends[vcpu] = end
        of[names[vcpu], "state", row["state"]] += end - start
    for row in tables["exit"]:
        of[names[number(row["vcpu"])], "exits", row["reason"]] += 1
        if number(row["cost_ns"]) is None:
            continue
        key = names[number(row["vcpu"])], "exit", row["reason"]
        of[key + ("complete",)] += 1
        of[key + ("ns",)] += number(row["cost_ns"])
        for state in ("hypervisor", "vmm", "preempted", "waking", "blocked", "offline"):
            of[key + (state,)] += number(row[state + "_ns"])
    for row in tables["migration"]:
        of[names[number(row["vcpu"])], "migrations"] += 1
    for row in tables["wake"]:
        key = names[number(row["vcpu"])], "wakes"
        of[key] += 1
        if number(row["latency_ns"]) is not None:
            of[key + ("complete",)] += 1
            of[key + ("max",)] = max(of[key + ("max",)], number(row["latency_ns"]))
    of["losses"] = len(tables["loss"])
    return of


def told(report):
    of = collections.Counter()
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            name = machine["id"], vcpu["id"]
            for state, stretches in vcpu["states"].items():
                of[name, "state", state] += stretches["ns"]
            for exits in vcpu["exits"]:
                key = name, "exit", exits["reason"]
                of[name, "exits", exits["reason"]] += exits["count"]
                of[key + ("complete",)] += exits["complete"]
                of[key + ("ns",)] += exits["ns"]
                for state, ns in exits["states_ns"].items():
                    of[key + (state,)] += ns
            of[name, "migrations"] += vcpu["migrations"]
            waking = vcpu["states"]["waking"]
            of[name, "wakes"] += waking["count"]
            of[name, "wakes", "complete"] += waking["complete"]
            of[name, "wakes", "max"] += waking.get("max", 0)
    of["losses"] = len(report["lost"]["windows"])
    return of


def main():
    with open(sys.argv[1]) as file:
        expected = told(json.load(file))
    found = sums(dict(READERS[sys.argv[2]](sys.argv[3])))
    differences = 0
    for key in sorted(set(expected) | set(found), key=repr):
        if expected[key] != found[key]:
            differences += 1
            print("%s: %d instead of %d" % (key, found[key], expected[key]), file=sys.stderr)
    print(len(set(expected) | set(found)))
    return differences > 0


sys.exit(main())
