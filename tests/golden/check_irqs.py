#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "check --irq-affinity" lists, against a recount of trace-cmd's text.

usage: check_irqs.py CHECK.csv TEXT KIND=CPUS...	TEXT is what "trace-cmd report -R -t" prints; KIND: irq, softirq, or a
	name; the last one counts; prints how many are listed
"""
import collections
import csv
import re
import sys

from trace_text import records

ACTIONS = "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()


def handlings(path):
    """(begin, cpu, kind, name, length or None), by CPU with a stack of what is open."""
    stacks = collections.defaultdict(list)
    for ns, _, cpu, name, text in records(path):
        stack = stacks[cpu]
        if name == "sched_switch":
            stack.clear()
        elif name in ("irq_handler_entry", "softirq_entry"):
            if name[0] == "i":
                irq, device = re.search(r"irq=(\S+) name=(\S+)", text).groups()
                what = "%d %s" % (int(irq, 0), device)
            else:
                what = ACTIONS[int(re.search(r"vec=(\S+)", text)[1], 0)]
            one = [ns, cpu, name.split("_")[0], what, None]
            stack.append(one)
            yield one
        elif name in ("irq_handler_exit", "softirq_exit"):
            while stack:
                one = stack.pop()
                if one[2] == name.split("_")[0]:
                    one[4] = ns - one[0]
                    break


def allowed(rules, kind, name):
    found = None
    for rule in rules:
        pattern, cpus = rule.rsplit("=", 1)
        if pattern in (kind, name, name.split()[0], name.split()[-1]):
            found = cpus
    return found


rules = sys.argv[3:]
want = []
for begin, cpu, kind, name, length in list(handlings(sys.argv[2])):
    cpus = allowed(rules, kind, name)
    if cpus is not None and cpu not in [int(one) for one in cpus.split(",")]:
        want.append((begin, cpu, kind, name, "" if length is None else str(length), cpus))
got = [(int(row["time_ns"]), int(row["pcpu"]), row["kind"], row["interrupt"], row["length_ns"], row["allowed"])
       for row in csv.DictReader(open(sys.argv[1]))]
assert got == sorted(got, key=lambda one: one[:2])
if sorted(got) != sorted(want):
    sys.exit("%s\n%s" % (sorted(set(got) - set(want))[:3], sorted(set(want) - set(got))[:3]))
print(len(got))
