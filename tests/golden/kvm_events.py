#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report" of a KVM host against the fields that trace-cmd prints of its records.

Usage: kvm_events.py REPORT.json RAW.txt [NAME=REASON...]

REPORT.json comes from "kshark-virt report --format json", RAW.txt from "trace-cmd report -R -t".
Each argument gives the name that the report has for a number in the field of the exit reason, or
L2:NAME=REASON for exits out of a guest's guest. Compared, to the nanosecond and for each vCPU: time
in guest, hypervisor, polling, vmm, blocked, waking and offline; exits by reason. A vCPU's thread is
followed on its own, from one of its records to the next.
"""
import collections
import json
import re
import sys

LINE = re.compile(r"^.*-(\d+)\s+\[(\d+)\]\S*\s+(?:[^\s\d]\S*\s+)?(\d+)\.(\d{9}): (\w+): +(.*)$")
ENTRIES = {"kvm_entry", "kvm_enter", "kvm_reenter", "kvm_s390_sie_enter"}
EXITS = {"kvm_exit": ("exit_reason", "scause", "reason"), "kvm_s390_sie_exit": ("icptcode",)}
DEAD = 0x10 | 0x20 | 0x40
STATES = ("guest", "hypervisor", "polling", "vmm", "blocked", "waking", "offline", "preempted")
# Without these, a state is unknown, and part of another one.
WITHOUT = {"polling": "kvm_vcpu_wakeup", "vmm": "kvm_userspace_exit"}


def fields(text):
    """A thread's name may have blanks: only what follows a "=" counts."""
    return {m[1]: m[2] for m in re.finditer(r"(\w+)=([^=]*?)(?= \w+=|$)", text)}


records = []
for line in open(sys.argv[2], errors="replace"):
    m = LINE.match(line)
    if m:
        records.append((int(m[3]) * 10**9 + int(m[4]), int(m[1]), m[5], fields(m[6])))
end = records[-1][0] + 1
names = dict(argument.rsplit("=", 1) for argument in sys.argv[3:])
names = {(name.startswith("L2:"), int(number, 0)): name for name, number in names.items()}


def life(tid):
    """What a thread did: [[time, state]], and its exits by number and level."""
    states, exits, mode = [], collections.Counter(), "hypervisor"
    own = [r for r in records if r[1] == tid or r[3].get("next_pid") == str(tid) or
           (r[2] == "sched_wakeup" and r[3]["pid"] == str(tid))]
    for i, (ns, pid, event, field) in enumerate(own):
        if event == "sched_switch" and field["next_pid"] == str(tid):
            states.append([ns, mode])
        elif event == "sched_switch":
            left = int(field["prev_state"], 0)
            states.append([ns, "offline" if left & DEAD else "blocked" if left else "preempted"])
        elif event == "sched_wakeup" and states and states[-1][1] == "blocked":
            states.append([ns, "waking"])
        elif event in ENTRIES:
            mode = "guest"
            states.append([ns, mode])
        elif event in EXITS:
            mode = "hypervisor"
            states.append([ns, mode])
            reason = next(field[name] for name in EXITS[event] if name in field)
            nested = i + 1 < len(own) and own[i + 1][2] == "kvm_nested_vmexit"
            exits[nested, int(reason, 0)] += 1
        elif event == "kvm_userspace_exit":
            mode = "vmm"
            states.append([ns, mode])
        elif event == "kvm_vcpu_wakeup" and mode == "hypervisor":
            begin = ns - int(field["ns"])
            past = len(states) - 1
            while states[past][1] != mode or states[past][0] > begin:
                past -= 1
            until = states[past + 1][0] if past + 1 < len(states) else ns
            states[past + 1:past + 1] = [[begin, "polling"]]
            if until == ns:
                states.append([ns, mode])
    return states, exits


report = json.load(open(sys.argv[1]))
errors = compared = 0


def expect(what, got, wanted):
    global errors, compared
    compared += 1
    if got != wanted:
        errors += 1
        print(f"  {what}: {got} in the report, {wanted} in the records")


vcpus = [vcpu for machine in report["machines"] for vcpu in machine["vcpus"]]
kinds = {event for _, _, event, _ in records}
threads = {pid for _, pid, event, _ in records if event.startswith("kvm_")}
expect("threads", {vcpu["tid"] for vcpu in vcpus}, threads)
for vcpu in vcpus:
    states, exits = life(vcpu["tid"])
    ns = collections.Counter()
    for (start, state), (stop, _) in zip(states, states[1:] + [[end, None]]):
        ns[state] += stop - start
    for state in STATES:
        if vcpu["states"][state]["total_ns"] is None and WITHOUT.get(state) not in kinds:
            expect(f"{vcpu['vcpu']} {state}, which has no records", ns[state], 0)
            continue
        expect(f"{vcpu['vcpu']} {state}", vcpu["states"][state]["total_ns"], ns[state])
    expect(f"{vcpu['vcpu']} exits", {e["reason"]: e["count"] for e in vcpu["exits"]},
           {names[number]: count for number, count in exits.items()})
    if "kvm_nested_vmexit" in kinds:
        levels = vcpu["exit_levels"]
        for name, is_nested in ("l1", False), ("l2", True):
            expect(f"{vcpu['vcpu']} exits of {name}", levels[name],
                   sum(n for (nested, _), n in exits.items() if nested == is_nested))
    for e in vcpu["exits"]:
        expect(f"{vcpu['vcpu']} {e['reason']}: polling is no cost", e["total_ns"],
               sum(n or 0 for state, n in e["states_ns"].items()
                   if state not in ("polling", "blocked", "device_model", "offline") and
                   not state.endswith("_includes")) + e.get("unasked_ns", 0))
print(f"{compared} compared, {errors} differ")
sys.exit(1 if errors or compared < 10 else 0)
