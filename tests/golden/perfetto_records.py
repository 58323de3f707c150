#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does a machine of Perfetto's trace have the records that trace-cmd prints, and what follows from them?

perfetto_records.py TRACE MACHINE=TEXT...	files with the text of trace-cmd report -t -R

Of each CPU and event the number of records, and of each CPU and thread the time that sched_switch gives it, in the window
of the trace: that of the host's records. Prints how many records there are of all.
"""
import collections
import re
import sys

import perfetto_trace

LINE = re.compile(r"^.*-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}): (\S+?):\s*(.*)$")


def window(trace):
    return trace.execute("SELECT min(ts), max(ts + dur) FROM state").fetchone()


def printed(path, first, last):
    counts, times, on = collections.Counter(), collections.Counter(), {}
    with open(path, errors="replace") as text:
        lines = [found for found in map(LINE.match, text) if found]
    for found in lines:
        cpu, time = int(found[2]), int(found[3]) * 10 ** 9 + int(found[4])
        if not first <= time < last:
            continue
        counts[cpu, found[5]] += 1
        if found[5] == "sched_switch":
            tid = int(re.search(r" next_pid=(\d+)", found[6])[1])
            if cpu in on:
                times[cpu, on[cpu][0]] += time - on[cpu][1]
            on[cpu] = tid, time
    return counts, times


def compare(trace, machine, path):
    counts, times = printed(path, *window(trace))
    of = "JOIN cpu USING (ucpu) JOIN machine ON machine.id = cpu.machine_id AND machine.name = ?"
    found = {(cpu, name): n for cpu, name, n in trace.execute(
        "SELECT cpu.cpu, f.name, count(*) FROM ftrace_event f %s GROUP BY 1, 2" % of, (machine,))}
    ran = {(cpu, tid): ns for cpu, tid, ns in trace.execute(
        "SELECT cpu.cpu, tid, sum(dur) FROM sched %s JOIN thread USING (utid) WHERE dur >= 0 GROUP BY 1, 2" % of,
        (machine,))}
    for what, mine, theirs in (("records", found, counts), ("ns", ran, times)):
        for key in sorted(set(mine) | set(theirs)):
            if mine.get(key, 0) != theirs[key]:
                sys.exit("%s: %s of %s: %d instead of %d" % (machine, what, key, mine.get(key, 0), theirs[key]))
    return sum(counts.values())


def main():
    trace = perfetto_trace.read(sys.argv[1])
    print(*(compare(trace, *pair.split("=", 1)) for pair in sys.argv[2:]))


main()
