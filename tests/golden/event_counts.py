#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts of events, by "report --events": the laws, and what another tool lists.

usage: event_counts.py laws EVENTS.json EVENTS.csv
       event_counts.py text EVENTS.json TRACE TEXT	TEXT is what "trace-cmd report" prints of TRACE
       event_counts.py names EVENTS.json NAMES	NAMES has the event of each record, with or without its system
"""
import collections
import csv
import json
import re
import sys

document = json.load(open(sys.argv[2]))


def by_name(rows, *keys):
    counts = collections.Counter()
    for row in rows:
        counts[(row["event"].split(":")[-1],) + tuple(row[key] for key in keys)] += row["count"]
    return counts


def laws(rows):
    """Each list has each record once."""
    seconds = (document["window_ns"][1] - document["window_ns"][0]) / 1e9
    n = 0
    for trace in document["traces"]:
        line = rows[n]
        n += 1
        assert (line["trace"], line["section"]) == (trace["trace"], "lost"), line
        assert line["count"] == ("" if trace["lost"] is None else str(trace["lost"])), line
        for key in "events", "machines", "tasks", "cpus":
            assert sum(row["count"] for row in trace[key]) == trace["records"], (trace["trace"], key)
            assert by_name(trace[key]) == by_name(trace["events"]), (trace["trace"], key)
            for row in trace[key]:
                assert abs(row["per_s"] - row["count"] / seconds) < 1e-3 * row["per_s"] + 1e-5, row
                line = rows[n]
                n += 1
                assert line["trace"] == trace["trace"] and line["section"] + "s" == key, line
                for column in set(line) & set(row) - {"per_s"}:
                    assert line[column] == str(row[column]), (column, line, row)
    assert n == len(rows), (n, len(rows))
    return n


def text(path, said):
    """What trace-cmd lists: the events of each CPU, and of each task."""
    lines = [m for m in (re.match(r"\s*.*-(\d+)\s+\[(\d+)\]\s.*?\d+\.\d+: (\w+):", line)
                         for line in said.splitlines()) if m]
    trace = next(trace for trace in document["traces"] if trace["trace"] == path)
    assert trace["records"] == len(lines), (trace["records"], len(lines))
    assert by_name(trace["events"]) == collections.Counter((m[3],) for m in lines)
    assert by_name(trace["tasks"], "pid") == collections.Counter((m[3], int(m[1])) for m in lines)
    cpu = "cpu" if "cpu" in trace["cpus"][0] else "pcpu"
    assert by_name(trace["cpus"], cpu) == collections.Counter((m[3], int(m[2])) for m in lines)
    return len(lines)


def names(listed):
    theirs = collections.Counter((name.strip(" :").split(":")[-1],) for name in listed.split())
    ours = by_name(document["traces"][0]["events"])
    assert ours == theirs, [(name, ours[name], theirs[name]) for name in ours | theirs if ours[name] != theirs[name]]
    return sum(theirs.values())


if sys.argv[1] == "laws":
    print(laws(list(csv.DictReader(open(sys.argv[3])))))
elif sys.argv[1] == "text":
    print(text(sys.argv[3], open(sys.argv[4], errors="replace").read()))
else:
    print(names(open(sys.argv[3]).read()))
