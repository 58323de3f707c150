# SPDX-License-Identifier: LGPL-2.1-or-later
"""dump of a KVM host and its guests against trace-cmd's own report of each file.

usage: dump_oracle.py DUMP.csv TABLES MACHINE=FILE.dat...

Each record that trace-cmd prints of FILE is in the dump as one of MACHINE, with the same event,
CPU, pid, name of the task and fields. Times of the host are the same; those of a guest differ by
what the alignment adds, which hardly changes from one record to the next. The state in each line is
that of the interval in TABLES (export --format csv-tables) that has its time; "-" for TABLES: this
is not compared.
"""
import bisect
import collections
import csv
import re
import subprocess
import sys

# records of a buffer have its name in front
LINE = re.compile(r"^ *(?:\w+: {2,})?(.*)-(-?\d+) +\[(\d+)\] (?:[^ ]{4,5} )? *(\d+)(?:\.(\d{9}))?: ([^ ]+?):(?: +(.*))?$")
LOST = re.compile(r"^CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]$")
# slopes of clocks differ by less than this
MOST_DRIFT = 1e-3


def trace_cmd(path):
    """The records as trace-cmd prints them, CPU by CPU, and what is lost before them."""
    text = subprocess.run(["trace-cmd", "report", "-N", "-t", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout.decode(errors="replace")
    cpus, lost = collections.defaultdict(list), 0
    for line in text.split("\n"):
        found = LINE.match(line)
        if found:
            comm, pid, cpu, seconds, ns, event, info = found.groups()
            cpus[int(cpu)].append((event, int(pid), comm, (info or "").strip(),
                                   int(seconds) * 10**9 + int(ns) if ns else None))
        elif LOST.match(line):
            lost += 1
    return cpus, lost


def compare(name, path, rows):
    cpus, lost = trace_cmd(path)
    ours = collections.defaultdict(list)
    for row in rows:
        if row["event"] != "lost_records":
            ours[int(row["cpu"])].append(row)
    n = 0
    assert {cpu: len(all) for cpu, all in cpus.items()} == \
        {cpu: len(all) for cpu, all in ours.items()}, (name, "records of each CPU")
    for cpu, records in cpus.items():
        first = None
        for theirs, row in zip(records, ours[cpu]):
            event, pid, comm, info, time = theirs
            assert row["event"] == event, (name, cpu, theirs, row)
            assert row["info"] == info, (name, cpu, theirs, row)
            assert row["pid"] == (str(pid) if pid >= 0 else ""), (name, cpu, theirs, row)
            if pid > 0 and not comm.startswith("<"):
                assert row["task"] == f"{comm}-{pid}", (name, cpu, theirs, row)
            n += 1
            # cycles of a TSC
            if time is None:
                continue
            shift = int(row["time_ns"]) - time
            first = first or (shift, time)
            if name == "host":
                assert shift == 0, (name, cpu, theirs, row)
            assert abs(shift - first[0]) <= 1 + MOST_DRIFT * (time - first[1]), (name, theirs, row)
    return n, lost, sum(row["event"] == "lost_records" for row in rows)


def states(rows, folder):
    """The state in each row is that of the interval with its time."""
    names = {row["id"]: row["name"] for row in csv.DictReader(open(f"{folder}/vcpu.csv"))}
    starts, intervals = collections.defaultdict(list), collections.defaultdict(list)
    for row in csv.DictReader(open(f"{folder}/interval.csv")):
        starts[names[row["vcpu"]]].append(int(row["start_ns"]))
        intervals[names[row["vcpu"]]].append((int(row["end_ns"]), row["state"]))
    n = collections.Counter()
    for row in rows:
        if not row["vcpu"]:
            assert not row["state"], row
            continue
        time = int(row["time_ns"])
        begun = [k for k in (bisect.bisect_right(starts[row["vcpu"]], time) - 1,) if k >= 0]
        # intervals without a length have no moment
        found = [intervals[row["vcpu"]][k][1] for k in begun
                 if intervals[row["vcpu"]][k][0] > time]
        assert row["state"] == (found[0] if found else ""), (row, found)
        n[row["machine"], bool(row["state"])] += 1
    return n


def main():
    rows = list(csv.DictReader(open(sys.argv[1], newline="")))
    times = [int(row["time_ns"]) for row in rows]
    back = sum(b < a for a, b in zip(times, times[1:]))
    assert not back, f"{back} records go back in time"
    total = 0
    for argument in sys.argv[3:]:
        name, path = argument.split("=", 1)
        n, lost, shown = compare(name, path, [row for row in rows if row["machine"] == name])
        assert n, f"no record of {name}"
        assert lost == shown, (name, lost, shown)
        total += n
        print(f"{name}: {n} records, {lost} losses")
    assert total == sum(row["event"] != "lost_records" for row in rows), "records without an owner"
    if sys.argv[2] != "-":
        print(dict(states(rows, sys.argv[2])))


main()
