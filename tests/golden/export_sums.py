#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the sums of an export equal those of report, to the nanosecond?

export_sums.py REPORT.json csv FOLDER
export_sums.py REPORT.json sqlite DATABASE
export_sums.py REPORT.json perfetto FILE
export_sums.py REPORT.json duckdb ROWS.json	of duckdb_sums.mjs

By vCPU: time by state, exits by reason with their cost and where it went, migrations, wake-ups;
records that are lost; and that intervals follow each other without a gap. Prints how many numbers
were compared.
"""
import collections
import csv
import gc
import json
import os
import sqlite3
import sys

import known
import perfetto_trace

NAMES = ("host", "vcpu", "interval", "exit", "migration", "wake", "loss", "guest_task", "disk_request",
         "lock_wait")


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


def perfetto_sums(path):
    """By the names of machine and vCPU, through the views of examples/perfetto."""
    of = collections.Counter()
    trace = perfetto_trace.read(path)
    perfetto_trace.load_module(trace)
    for machine, vcpu, state, ns in trace.execute(
            "SELECT machine, vcpu, state, sum(dur) FROM vcpu_state GROUP BY 1, 2, 3"):
        of[(machine, vcpu), "state", state] = ns
    for machine, vcpu, ns in trace.execute("SELECT machine, vcpu, sum(dur) FROM vcpu_steal GROUP BY 1, 2"):
        of[(machine, vcpu), "steal"] = ns
    for machine, vcpu, reason, n, complete, ns in trace.execute(
            "SELECT machine, vcpu, reason, count(*), count(cost_ns), sum(cost_ns) FROM exits GROUP BY 1, 2, 3"):
        of[(machine, vcpu), "exits", reason] = n
        of[(machine, vcpu), "exit", reason, "complete"] = complete
        of[(machine, vcpu), "exit", reason, "ns"] = ns or 0
    for machine, vcpu, n, complete, most in trace.execute(
            "SELECT machine, vcpu, count(*), count(latency_ns), max(latency_ns) FROM wakeups GROUP BY 1, 2"):
        of[(machine, vcpu), "wakes"] = n
        of[(machine, vcpu), "wakes", "complete"] = complete
        of[(machine, vcpu), "wakes", "max"] = most or 0
    for machine, task, ns in trace.execute("SELECT machine, slice.name, sum(dur) FROM slice JOIN vcpu_track "
                                           "USING (track_id) WHERE kind = 'tasks' GROUP BY 1, 2"):
        of[machine, "task", task] = ns
    of["migrations"] = trace.execute("SELECT count(*) FROM slice WHERE name = 'comes'").fetchone()[0]
    return of


def sums_for_perfetto(report):
    of = collections.Counter()
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            name = machine["machine"], vcpu["vcpu"]
            for state, stretches in vcpu["states"].items():
                of[name, "state", state] += stretches["total_ns"]
            of[name, "steal"] += vcpu["states"]["preempted"]["total_ns"]
            for exits in vcpu["exits"]:
                of[name, "exits", exits["reason"]] += exits["count"]
                of[name, "exit", exits["reason"], "complete"] += exits["complete"]
                of[name, "exit", exits["reason"], "ns"] += exits["total_ns"]
            of["migrations"] += vcpu["migrations"]
            waking = vcpu["states"]["waking"]
            of[name, "wakes"] += waking["count"]
            of[name, "wakes", "complete"] += waking["complete"]
            of[name, "wakes", "max"] += waking.get("max_ns", 0)
    for machine, task in tasks(report):
        # who idles has no slice
        of[machine["machine"], "task", task["name"]] += task["believed_ns"] if task["pid"] else 0
    return of


def tasks(report):
    """Of each guest whose trace is there: its machine, and a task."""
    of = {vcpu["vcpu"]: machine for machine in report["machines"] for vcpu in machine["vcpus"]}
    for guest in report.get("guests", []):
        machines = [of[cpu["vcpu"]] for cpu in guest["cpus"] if cpu.get("vcpu")]
        for task in guest["tasks"]:
            yield machines[0], task


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
        for state in ("hypervisor", "polling", "vmm", "preempted", "waking", "blocked",
                      "device_model", "offline"):
            of[key + (state,)] += number(row[state + "_ns"]) or 0
    for row in tables["migration"]:
        of[names[number(row["vcpu"])], "migrations"] += 1
    for row in tables["wake"]:
        key = names[number(row["vcpu"])], "wakes"
        of[key] += 1
        if number(row["latency_ns"]) is not None:
            of[key + ("complete",)] += 1
            of[key + ("max",)] = max(of[key + ("max",)], number(row["latency_ns"]))
    for row in tables["guest_task"]:
        key = names[number(row["vcpu"])][0], "task", number(row["pid"]), row["name"]
        of[key + ("runs",)] += 1
        of[key + ("ns",)] += number(row["end_ns"]) - number(row["start_ns"])
        of[key + ("executed",)] += number(row["executed_ns"])
    of["losses"] = len(tables["loss"])
    return of


def duckdb_sums(path):
    of = collections.Counter()
    with open(path) as file:
        for machine, vcpu, *key, value in json.load(file):
            key = tuple(part for part in key if part)
            of[key[0] if key == ("losses",) else ((int(machine), int(vcpu)), *key)] = int(value or 0)
    return of


def sums_of_report(report):
    of = collections.Counter()
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            name = machine["id"], vcpu["id"]
            for state, stretches in vcpu["states"].items():
                of[name, "state", state] += stretches["total_ns"]
            for exits in vcpu["exits"]:
                key = name, "exit", exits["reason"]
                of[name, "exits", exits["reason"]] += exits["count"]
                of[key + ("complete",)] += exits["complete"]
                of[key + ("ns",)] += exits["total_ns"]
                for state, ns in exits["states_ns"].items():
                    if not state.endswith("_includes"):
                        of[key + (state,)] += ns
            of[name, "migrations"] += vcpu["migrations"]
            waking = vcpu["states"]["waking"]
            of[name, "wakes"] += waking["count"]
            of[name, "wakes", "complete"] += waking["complete"]
            of[name, "wakes", "max"] += waking.get("max_ns", 0)
    for machine, task in tasks(report):
        key = machine["id"], "task", task["pid"], task["name"]
        of[key + ("runs",)] += task["runs"]
        of[key + ("ns",)] += task["believed_ns"]
        of[key + ("executed",)] += task["executed_ns"]
    of["losses"] = len(report["lost"]["windows"])
    return of


def shown(report):
    """Of each number of a report, whether the trace shows it; the export has what little there is."""
    def is_shown(key):
        who, what = ("", key) if isinstance(key, str) else key[:2]
        return (who, what) not in unknown
    unknown = set()
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            for name in ("migrations", "exits"):
                if vcpu[name] is None:
                    for who in ((machine["id"], vcpu["id"]), (machine["machine"], vcpu["vcpu"]), ""):
                        unknown |= {(who, name), (who, name.rstrip("s"))}
    return is_shown


def main():
    # millions of small lists, and no cycle among them
    gc.disable()
    with open(sys.argv[1]) as file:
        is_shown = shown(json.load(file))
    with open(sys.argv[1]) as file:
        report = known.load(file)
    if sys.argv[2] == "perfetto":
        expected, found = sums_for_perfetto(report), perfetto_sums(sys.argv[3])
    elif sys.argv[2] == "duckdb":
        expected, found = sums_of_report(report), duckdb_sums(sys.argv[3])
    else:
        expected, found = sums_of_report(report), sums(dict(READERS[sys.argv[2]](sys.argv[3])))
    differences = 0
    for key in sorted(filter(is_shown, set(expected) | set(found)), key=repr):
        # a run of 0 ns has no row, and a row that begins with the window no run that begins in it
        if key[-1] == "runs" and abs(expected[key] - found[key]) <= 2:
            continue
        if expected[key] != found[key]:
            differences += 1
            print("%s: %d instead of %d" % (key, found[key], expected[key]), file=sys.stderr)
    print(len(set(expected) | set(found)))
    return differences > 0


sys.exit(main())
