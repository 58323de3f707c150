#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the list of KernelShark with the text of babeltrace2.

    lttng.py TEXT WARNINGS ROWS [HIDDEN]

TEXT is what 'babeltrace2 --clock-cycles --no-delta' prints of a trace of LTTng's kernel tracer, WARNINGS its
standard error, ROWS the answer of probe.cpp. The list has no event HIDDEN.

The order of the events of each CPU, their times, the threads of sched_* and the addresses of VM exits must be the
same, and so must the number of lost events.
"""
import collections
import re
import sys

EVENT = re.compile(r"\[(\d+)\] \S+ (\w+): \{ cpu_id = (\d+) \}, \{ (.*) \}$")
# of lttng-modules and of the kernel
NAMES = (("kvm_x86_", "kvm_"), ("irq_softirq_", "softirq_"))
# of babeltrace2, and where libtraceevent prints the same: a thread as "name:17 [120]"
FIELDS = (("prev_tid", r":(\d+) \["), ("next_tid", r"==> .*:(\d+) \["), ("tid", r"(?:pid=|:(?=\d+ \[))(\d+)"),
          ("guest_rip", r"rip (0x[0-9a-f]+)"), ("vec", r"vec=(\d+)"))


def kernel_name(name):
    for lttng, kernel in NAMES:
        if name.startswith(lttng):
            return kernel + name[len(lttng):]
    return name


def number(text, pattern):
    """A number in the text of an event, or None."""
    found = re.search(pattern, text)
    return int(found.group(1), 0) if found else None


def read_events(path, hidden):
    """By CPU: (us, name, text)."""
    events = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        time, name, cpu, text = EVENT.match(line.rstrip("\n")).groups()
        if kernel_name(name) != hidden:
            events[int(cpu)].append((int(time) / 1000, kernel_name(name), text))
    return events


def read_rows(path):
    """By CPU: (us, name, info); and the number of lost events."""
    rows, lost = collections.defaultdict(list), 0
    for line in open(path, encoding="utf-8"):
        cpu, time, _, _, name, info = line.rstrip("\n").split("\t")
        if info.startswith("missed_events="):
            lost += int(info.split("=")[1])
        else:
            rows[int(cpu)].append((float(time) * 1e6, name, info))
    return rows, lost


def main():
    hidden = sys.argv[4] if len(sys.argv) > 4 else None
    events = read_events(sys.argv[1], hidden)
    rows, lost = read_rows(sys.argv[3])
    discarded = sum(int(n) for n in re.findall(r"discarded (\d+) events", open(sys.argv[2]).read()))
    compared = 0
    if not discarded or lost != discarded:
        sys.exit("%d lost events, and babeltrace2 has %d" % (lost, discarded))
    if sorted(rows) != sorted(events) or len(rows) < 4:
        sys.exit("CPUs %s and %s" % (sorted(rows), sorted(events)))
    for cpu, wanted in events.items():
        if len(rows[cpu]) != len(wanted):
            sys.exit("CPU %d has %d rows of %d events" % (cpu, len(rows[cpu]), len(wanted)))
        for row, event in zip(rows[cpu], wanted):
            if abs(row[0] - event[0]) > 1.1 or row[1] != event[1]:
                sys.exit("%s is not %s" % (row, event))
            for name, pattern in FIELDS:
                value = number(event[2], r"\b%s = (0x[0-9A-F]+|-?\d+)" % name)
                if value is None:
                    continue
                compared += 1
                if number(row[2], pattern) != value:
                    sys.exit("%s of %s is not that of %s" % (name, row, event))
    if compared < 5000:
        sys.exit("only %d fields were compared" % compared)


main()
