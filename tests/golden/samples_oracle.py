#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Samples of a host's counters, against what /proc and vmstat said at the same time (samples/record/host/proc.py).

usage: samples_oracle.py looks SAMPLES.csv PROC.txt
       samples_oracle.py bounds PROC.txt	prints two times, of lines of vmstat
       samples_oracle.py vmstat OVER_TIME.json PROC.txt	OVER_TIME: one interval between these
       samples_oracle.py switches OVER_TIME.json...	OVER_TIME: from one sample to the next
"""
import csv
import json
import sys

TICK_NS = 10 ** 7
# names in samples, and the file, the beginning of the line, the field and the unit in /proc
COUNTERS = [("user_ns", "stat", "cpu", (0, 1), TICK_NS), ("system_ns", "stat", "cpu", (2,), TICK_NS),
            ("idle_ns", "stat", "cpu", (3,), TICK_NS), ("iowait_ns", "stat", "cpu", (4,), TICK_NS),
            ("irq_ns", "stat", "cpu", (5,), TICK_NS), ("softirq_ns", "stat", "cpu", (6,), TICK_NS),
            ("steal_ns", "stat", "cpu", (7,), TICK_NS), ("guest_ns", "stat", "cpu", (8, 9), TICK_NS),
            ("switches", "stat", "ctxt", (0,), 1), ("interrupts", "stat", "intr", (0,), 1),
            ("forks", "stat", "processes", (0,), 1), ("faults", "vmstat", "pgfault", (0,), 1),
            ("major_faults", "vmstat", "pgmajfault", (0,), 1), ("read_bytes", "vmstat", "pgpgin", (0,), 1024),
            ("written_bytes", "vmstat", "pgpgout", (0,), 1024), ("swap_in_bytes", "vmstat", "pswpin", (0,), 4096),
            ("swap_out_bytes", "vmstat", "pswpout", (0,), 4096)]
PRESSURES = [("cpu_some_ns", "cpu", "some"), ("memory_some_ns", "memory", "some"), ("memory_full_ns", "memory", "full"),
             ("io_some_ns", "io", "some"), ("io_full_ns", "io", "full")]
STATES = [("memory_bytes", "MemTotal:"), ("swap_bytes", "SwapTotal:"), ("swap_free_bytes", "SwapFree:"),
          ("free_bytes", "MemFree:"), ("available_bytes", "MemAvailable:")]


def looks_of(path):
    """Each look: when it began and ended, and {(file, key): [numbers]}."""
    looks, lines = [], []
    for line in open(path):
        words = line.split()
        if words[0] == "=":
            looks.append((int(words[1]), int(words[2]), {}))
        elif words[0] == "vmstat" and words[1].isdigit():
            if words[2].isdigit():
                lines.append((int(words[1]), [int(word) for word in words[2:]]))
        else:
            looks[-1][2][words[0], words[1]] = words[2:]
    return looks, lines


def numbers_of(said):
    """What a sample would have at the time of this look."""
    numbers = {}
    for name, file, key, fields, unit in COUNTERS:
        numbers[name] = sum(int(said[file, key][field]) for field in fields) * unit
    numbers["user_ns"] -= numbers["guest_ns"]
    for name, file, key in PRESSURES:
        numbers[name] = 1000 * int(said["pressure/" + file, key][-1].split("=")[1])
    for name, key in STATES:
        numbers[name] = 1024 * int(said["meminfo", key][0])
    numbers["cached_bytes"] = 1024 * sum(int(said["meminfo", key][0]) for key in ("Buffers:", "Cached:"))
    return numbers


def check_looks(samples, looks):
    """A counter is between those of the looks before and after; what the machine has stays the same."""
    checked = 0
    looks = [(begin, end, numbers_of(said)) for begin, end, said in looks]
    states = [name for name, _ in STATES] + ["cached_bytes"]
    for sample in samples:
        at = int(sample["time_ns"])
        before = [numbers for _, end, numbers in looks if end < at]
        after = [numbers for begin, _, numbers in looks if begin > at + 20 * 10 ** 6]
        assert set(sample) == {"time_ns", "runnable", "blocked"} | set(looks[0][2]), sample
        assert 1 <= int(sample["runnable"]) < 100 and int(sample["blocked"]) < 100, sample
        for name in looks[0][2]:
            value = int(sample[name])
            if name in states:
                every = [numbers[name] for _, _, numbers in looks]
                slack = max(every) - min(every)
                assert min(every) - slack <= value <= max(every) + slack, (name, value, every)
                checked += 1
            elif before and after:
                assert before[-1][name] <= value <= after[0][name], (name, before[-1][name], value, after[0][name])
                checked += 1
    return checked


def inner_lines(looks, lines):
    return [line for line in lines if looks[0][0] < line[0] < looks[-1][1]]


def check_vmstat(interval, lines):
    """Sums of a few seconds; between two samples, counters grow evenly, which moves some from one to the other."""
    inside = [said for at, said in lines if interval["from_ns"] < at <= interval["to_ns"] + 10 ** 6]
    seconds = (interval["to_ns"] - interval["from_ns"]) / 1e9
    sums = [sum(said[i] for said in inside) for i in range(17)]
    cpu_ns = sum(interval["sampled_%s_ns" % kind] for kind in
                 ("guest", "user", "system", "irq", "softirq", "steal", "iowait", "idle"))
    pairs = [(sums[10], interval["sampled_interrupts"]), (sums[11], interval["sampled_switches"]),
             (sums[12] / len(inside), 100 * interval["sampled_user_ns"] / cpu_ns),
             (sums[13] / len(inside),
              100 * sum(interval["sampled_%s_ns" % kind] for kind in ("system", "irq", "softirq")) / cpu_ns)]
    for theirs, ours in pairs:
        assert abs(theirs - ours) <= 0.04 * theirs, (pairs, seconds)
    memory = interval["sampled_free_bytes"] / 1024
    assert min(said[3] for said in inside) * 0.9 <= memory <= max(said[3] for said in inside) * 1.1, (memory, inside)
    return len(inside)


def check_switches(paths):
    """The kernel counts the switches that the trace has; a sample is read some microseconds after its time."""
    every = 0
    for path in paths:
        one, = json.load(open(path))["intervals"]
        assert abs(one["switches"] - one["sampled_switches"]) <= 25, one
        every += one["switches"]
    return every


what = sys.argv[1]
if what == "looks":
    print(check_looks(list(csv.DictReader(open(sys.argv[2]))), looks_of(sys.argv[3])[0]))
elif what == "bounds":
    inner = inner_lines(*looks_of(sys.argv[2]))
    print(inner[1][0], inner[-1][0])
elif what == "vmstat":
    one, = json.load(open(sys.argv[2]))["intervals"]
    print(check_vmstat(one, looks_of(sys.argv[3])[1]))
else:
    print(check_switches(sys.argv[2:]))
