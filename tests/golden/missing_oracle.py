#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host with one vCPU, of which some entries are not recorded, added up from trace-cmd's text.

What lies between a VM exit and the next one, without an entry, is unknown. The numbers of the report
must be those, and those that are given.
"""
import json
import re
import sys

LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[(\d+)\]\S*\s+(?:[^\s\d]\S*\s+)?(\d+)\.(\d{9}):\s+(\w+):\s*(.*)$")


def add_up(path):
    """Times of the vCPU on its pCPU, by what it does there."""
    ns = {"guest": 0, "hypervisor": 0, "unknown": 0}
    mode = since = None
    lines = [match for match in map(LINE.match, open(path, encoding="utf-8")) if match]
    vcpu = next(int(match[2]) for match in lines if match[6] == "kvm_entry")
    for match in lines:
        event, text = match[6], match[7]
        now = int(match[4]) * 10**9 + int(match[5])
        if event == "kvm_entry":
            if mode:
                ns["hypervisor"] += now - since
            mode, since = "guest", now
        elif event == "kvm_exit":
            if mode:
                ns["guest" if mode == "guest" else "unknown"] += now - since
            mode, since = "hypervisor", now
        elif event == "sched_switch":
            before, after = (re.search(r":(\d+) \[", part) for part in text.split("==>"))
            if int(before[1]) == vcpu and mode:
                ns["hypervisor"] += now - since
                mode = None
            if int(after[1]) == vcpu:
                mode, since = "hypervisor", now
    return ns


report, text, *wanted = sys.argv[1:]
states = json.load(open(report))["machines"][0]["vcpus"][0]["states"]
counted = add_up(text)
for word in wanted:
    state, ns = word.split("=")
    assert states[state]["total_ns"] == counted[state] == int(ns), (state, states[state], counted)
