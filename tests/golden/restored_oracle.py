#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine that goes on in another process, as trace-cmd prints its records.

restored_oracle.py TEXT REPORT.json HZ TID=LATER...

TEXT is "trace-cmd report -t" of the host, in cycles, REPORT.json what kshark-virt reports of it. For each vCPU, which was thread TID
and goes on as LATER: the time from entry to exit of both, exits of both by reason, and that it was offline from when
TID slept for the last time until LATER entered its guest. Prints the offline time of each, in ns.
"""
import collections
import json
import re
import sys

LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+):\s+(\w+):\s*(.*)$")


def records(path, hz):
    for line in open(path, errors="replace"):
        match = LINE.match(line)
        if match:
            _, pid, _, time, event, text = match.groups()
            yield int(time) * 10**9 // hz, int(pid), event, text


def main():
    later = dict(map(int, text.split("=")) for text in sys.argv[4:])
    first = {b: a for a, b in later.items()}
    guest, exits = collections.Counter(), collections.defaultdict(collections.Counter)
    entered, slept, began = {}, {}, {}
    for time, pid, event, text in records(sys.argv[1], int(sys.argv[3])):
        tid = first.get(pid, pid)
        if tid not in later:
            continue
        if event == "kvm_entry":
            entered[tid] = time
            if pid in first:
                began.setdefault(tid, time)
        elif event == "kvm_exit":
            if tid in entered:
                guest[tid] += time - entered.pop(tid)
            exits[tid][re.search(r"reason (?:EXIT_)?(\w+)", text)[1].upper()] += 1
        elif event == "sched_switch" and pid in later and tid not in began:
            slept[tid] = time
    report = json.load(open(sys.argv[2]))
    for tid, time in entered.items():
        guest[tid] += report["window_ns"][1] - time
    assert len(report["machines"]) == 1, [machine["machine"] for machine in report["machines"]]
    vcpus = {vcpu["tid"]: vcpu for vcpu in report["machines"][0]["vcpus"]}
    assert set(vcpus) == set(later), set(vcpus)
    for tid, vcpu in sorted(vcpus.items()):
        states = vcpu["states"]
        assert states["guest"]["total_ns"] == guest[tid], (tid, states["guest"]["total_ns"], guest[tid])
        reported = {exit["reason"].upper(): exit["count"] for exit in vcpu["exits"]}
        assert reported == dict(exits[tid]), (reported, exits[tid])
        assert sum(state["total_ns"] or 0 for state in states.values()) == \
            report["window_ns"][1] - report["window_ns"][0], tid
        assert states["offline"]["total_ns"] >= began[tid] - slept[tid] > 0, tid
        print(vcpu["vcpu"], began[tid] - slept[tid])


main()
