# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report --handlers" against what trace-cmd prints of the same file.

usage: handlers_oracle.py HANDLERS.json HANDLERS.csv HANDLERS.text HOST.txt

The text comes from "trace-cmd report -t" of a trace without lost records. Handlers are followed CPU by
CPU with a stack: their own time is what no other handler has in them.
"""
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\s*(?:[^\s\d]\S{3,5} +)?"
                  r"(\d+)(?:\.(\d{9}))?: +([\w-]+): *(.*)$")
IRQ = re.compile(r"irq=(\d+) name=(\S+)")
SOFTIRQ = re.compile(r"vec=\d+ \[action=(\w+)\]")


def time_of(m):
    return int(m[4]) * 10**9 + int(m[5]) if m[5] else int(m[4])


def handlers_of(path):
    """By thread and handler: the own times of all its handlings."""
    stacks = collections.defaultdict(list)
    found = collections.defaultdict(list)
    vcpus = {}
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        now, cpu, pid, event = time_of(m), int(m[3]), int(m[2]), m[6]
        stack = stacks[cpu]
        if event == "kvm_entry":
            vcpus[pid] = int(re.search(r"vcpu (\d+)", m[7])[1])
        if event == "sched_switch" or (stack and stack[0][0] != pid):
            stack.clear()
        if event in ("irq_handler_entry", "softirq_entry"):
            if stack:
                stack[-1][3] += now - stack[-1][2]
            irq = event[0] == "i"
            what = IRQ.search(m[7]) if irq else SOFTIRQ.search(m[7])
            name = ("irq", f"{what[1]} {what[2]}") if irq else ("softirq", what[1])
            stack.append([pid, name, now, 0])
        elif event in ("irq_handler_exit", "softirq_exit") and stack:
            _, name, since, own = stack.pop()
            assert name[0] == event.split("_")[0]
            found[pid, name].append(own + now - since)
            if stack:
                stack[-1][2] = now
    return found, vcpus


def main(json_path, csv_path, text_path, host_path):
    report = json.load(open(json_path))
    rows = list(csv.DictReader(open(csv_path)))
    text = open(text_path).read()
    found, vcpus = handlers_of(host_path)
    wanted = {}
    for (pid, (kind, name)), times in found.items():
        if pid in vcpus:
            wanted[f"g1v{vcpus[pid]}", kind, name] = len(times), sum(times), max(times)
    got = {}
    for vcpu in report["vcpus"]:
        for key in "hypervisor_ns", "vmm_ns":
            assert sum(h[key] for h in vcpu["handlers"]) <= vcpu[key]
        for h in vcpu["handlers"]:
            assert h["total_ns"] == h["hypervisor_ns"] + h["vmm_ns"] + h["other_ns"]
            got[vcpu["vcpu"], h["kind"], h["name"]] = h["count"], h["total_ns"], h["max_ns"]
            row = rows.pop(0)
            assert row["vcpu"] == vcpu["vcpu"] and row["machine"] == vcpu["machine"]
            for column in "kind", "name", "count", "total_ns", "max_ns", "hypervisor_ns", "vmm_ns", \
                          "other_ns":
                assert row[column] == str(h[column]), (row, h)
            assert h["name"] in text
    assert not rows
    assert got == wanted, (got, wanted)
    print(f"{len(got)} handlers, {sum(c for c, _, _ in got.values())} handlings agree")
    return not got


sys.exit(main(*sys.argv[1:]))
