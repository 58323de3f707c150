#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "report --counters": counters.py WHAT JSON ...

    laws JSON CSV           both have the same rows; each kind of rows adds up to the counters of all pCPUs
    script JSON TEXT        a recount of "perf script --ns -F cpu,time,event,period,trace"
    sql JSON CSV            sums by counter and pid, of the table counter_span
    stat JSON STAT.TXT      at least what perf stat counted in the middle of the recording
    switches JSON           each span with a known owner has one context switch, all others more
    windows WHOLE PART...   windows that lie side by side have no more than the whole

The number of compared numbers goes to standard output.
"""
import collections
import csv
import json
import re
import sys

KINDS = {"counters": "counter", "machines": "machine", "vcpus": "vcpu", "states": "state", "after": "after",
         "tasks": "task", "pcpus": "pcpu"}
NUMBERS = ("spans", "total_ns", "uncounted_ns", "count", "enabled_ns", "running_ns")


def load(path):
    with open(path) as file:
        return json.load(file)


def key(row):
    return row["counter"], row["group"]


def sums(rows, of=lambda row: ()):
    """The sum of each number, by counter, of rows that have a number."""
    result = collections.defaultdict(collections.Counter)
    for row in rows:
        for number in NUMBERS:
            result[key(row) + of(row)][number] += row[number] or 0
    return result


def laws(page, path):
    n = 0
    whole = sums(page["counters"])
    assert len(whole) == len(page["counters"])
    for kinds in (("machines",), ("vcpus", "tasks"), ("pcpus",)):
        parts = sums([row for kind in kinds for row in page[kind]])
        assert parts == whole, (kinds, parts, whole)
        n += len(parts)
    vcpus = sums(page["vcpus"], lambda row: (row["vcpu"],))
    for kind in ("states", "after"):
        assert sums(page[kind], lambda row: (row["vcpu"],)) == vcpus, kind
        n += len(vcpus)
    rows = [row for kind in KINDS for row in page[kind]]
    with open(path) as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(rows), (len(table), len(rows))
    for row, line in zip(rows, table):
        for name, cell in line.items():
            if name not in ("file", "section"):
                value = row.get(name)
                same = cell == ("" if value is None else str(value)) or \
                    isinstance(value, float) and abs(float(cell) - value) < 0.001
                assert same, (name, cell, value)
                n += 1
    return n


def owners(page):
    """The sums by pid: -1 is unknown."""
    result = {}
    for row in page["vcpus"] + page["tasks"]:
        pid = 0 if row.get("name") == "idle" else -1 if row.get("name") == "unknown" else row["pid"]
        result[row["counter"], pid] = row["count"], row["spans"]
    return result


LINE = re.compile(r"\s*\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+):(?:\s(.*))?$")


def script(page, path):
    """perf prints the difference of the sample before, with the task that leaves, and nothing for 0."""
    counters = sorted({row["counter"] for row in page["counters"]})
    counts, spans, pcpus = collections.Counter(), collections.Counter(), collections.Counter()
    last, owner = {}, {}                        # by CPU: time of the last switch, and who has it since
    now = None
    for line in open(path):
        match = LINE.match(line)
        if not match:
            continue
        cpu, seconds, ns, period, event, trace = match.groups()
        cpu, period, time = int(cpu), int(period), int(seconds) * 10**9 + int(ns)
        if event == "sched:sched_switch":
            before, after = map(int, re.findall(r"(?:prev|next)_pid=(\d+)", trace))
            if cpu in last:
                now = before if owner[cpu] == before else -1
                spans[now] += 1
            else:
                now = None
            last[cpu], owner[cpu] = time, after
        elif event in counters and now is not None:
            counts[event, now] += period
            pcpus[event, cpu] += period
    ours = owners(page)
    expected = {(counter, pid): (counts[counter, pid], spans[pid]) for counter in counters for pid in spans}
    assert ours == expected, sorted(set(ours.items()) ^ set(expected.items()))[:20]
    for row in page["pcpus"]:
        assert row["count"] == pcpus[row["counter"], row["pcpu"]], row
    return len(ours) + len(page["pcpus"])


def sql(page, path):
    """The sums by counter and pid, -1 for unknown."""
    ours = collections.Counter()
    for row in page["vcpus"] + page["tasks"]:
        pid = {"idle": 0, "unknown": -1}.get(row.get("name"), row.get("pid"))
        ours[row["counter"], pid] = tuple(row[name] for name in
                                          ("spans", "total_ns", "count", "enabled_ns", "running_ns"))
    with open(path) as file:
        rows = list(csv.reader(file))[1:]
    assert ours == {(row[0], int(row[1])): tuple(map(int, row[2:])) for row in rows}, rows
    return len(rows)


def stat(page, path):
    n = 0
    counts = {row["counter"]: row["count"] for row in page["counters"]}
    for line in open(path):
        cells = line.split(",")
        if len(cells) < 4 or cells[2] not in counts:
            continue
        least = float(cells[0]) * (1e6 if cells[1] == "msec" else 1)
        # tasks that perf stat sees for the first time migrate at most a few times less
        assert least <= counts[cells[2]] <= 2 * least + 100, (line, counts)
        n += 1
    return n


def switches(page):
    n = 0
    for row in page["vcpus"] + page["tasks"]:
        if row["counter"] == "context-switches":
            assert (row["count"] == row["spans"]) == (row.get("name") != "unknown"), row
            n += row["spans"]
    return n


def windows(whole, *parts):
    """Spans over the edges of windows are in none of them; each edge cuts at most one of each pCPU."""
    n_pcpus = len({row["pcpu"] for row in whole["pcpus"]})
    together = collections.Counter()
    partial = 0
    for part in parts:
        for row in part["counters"]:
            together[key(row)] += row["spans"]
            partial += row["partial_ns"]
            cut = row["total_ns"] + row["partial_ns"]
            assert cut <= (part["window_ns"][1] - part["window_ns"][0]) * n_pcpus, row
    lost = 0
    for row in whole["counters"]:
        missing = row["spans"] - together[key(row)]
        assert 0 <= missing <= (len(parts) - 1) * n_pcpus, (row, missing)
        lost += missing
        covered = sum(r["total_ns"] + r["partial_ns"] for part in parts for r in part["counters"] if key(r) == key(row))
        assert covered == row["total_ns"], (covered, row)
    assert lost and partial
    return lost


def main():
    what, pages = sys.argv[1], sys.argv[2:]
    first = load(pages[0])
    if what == "windows":
        print(windows(first, *[load(path) for path in pages[1:]]))
    else:
        print({"laws": laws, "script": script, "sql": sql, "stat": stat, "switches": switches}[what](first, *pages[1:]))


main()
