#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check deliveries of interrupts and chains of wake-ups against what trace-cmd prints.

Usage: delivery_oracle.py WORST.json REPORT.json TEXT HOST GUEST TID...

WORST.json and REPORT.json come from "kshark-virt report --format json", with and without "--worst
1000000 --kind irq,wake"; TEXT from "trace-cmd report -l -t -i HOST -i GUEST"; HOST and GUEST are the
names in front of its lines, TID the thread of each CPU of the guest. The report goes from injections
to handlers; here it goes the other way round: every event that the guest recorded in an interrupt
is asked which injection it belongs to.
"""
import bisect
import collections
import json
import re
import sys

LINE = re.compile(r"^\s*(\S+): .*-(\d+) +(\d+)(\S{5,6}) +(\d+)\.(\d{9}): ([\w-]+): *(.*)$")
Event = collections.namedtuple("Event", "ns flags name")


class Vcpu:
    """What the host recorded of a vCPU's thread, and the guest on this CPU."""

    def __init__(self):
        self.injections, self.entries, self.events = [], [], []
        self.wakes, self.ins, self.outs = [], [], []


def read(path, host, guest, tids):
    vcpus = {tid: Vcpu() for tid in tids}
    for line in open(path, errors="replace"):
        if "EVENTS DROPPED" in line:
            sys.exit(f"{path}: records are missing")
        m = LINE.match(line)
        if not m:
            continue
        ns, pid, name, info = int(m[5]) * 10**9 + int(m[6]), int(m[2]), m[7], m[8]
        if m[1] == guest:
            vcpus[tids[int(m[3])]].events.append(Event(ns, m[4], name))
        elif m[1] != host:
            continue
        elif name == "sched_switch":
            before, after = re.search(r":(\d+) \[\d+\] \S+ ==> .*:(\d+) \[", info).groups()
            if int(before) in vcpus:
                vcpus[int(before)].outs.append(ns)
            if int(after) in vcpus:
                vcpus[int(after)].ins.append(ns)
        elif name == "sched_wakeup":
            woken = int(re.search(r":(\d+) \[", info)[1])
            if woken in vcpus:
                vcpus[woken].wakes.append(ns)
        elif name == "kvm_entry" and pid in vcpus:
            vcpus[pid].entries.append(ns)
        elif name == "kvm_inj_virq" and pid in vcpus and "reinjected" not in info:
            vcpus[pid].injections.append((ns, int(re.search(r"0x([0-9a-f]+)", info)[1], 16)))
    return vcpus


def first_at(times, ns):
    i = bisect.bisect_left(times, ns)
    return times[i] if i < len(times) else None


def deliveries(vcpu):
    """{injection: (handler, vector, event)}, from the guest's events backwards."""
    found, times = {}, [i[0] for i in vcpu.injections]
    enabled = [e.ns for e in vcpu.events if e.flags[0] == "." and e.flags[2] not in "hHzZ"]
    for event in vcpu.events:
        if event.flags[2] not in "hH":
            continue
        i = bisect.bisect_right(times, event.ns) - 1
        if i < 0 or times[i] in found or times[i] < vcpu.events[0].ns:
            continue
        entry = first_at(vcpu.entries, times[i])
        if entry is None or entry > event.ns:
            continue
        over = first_at(enabled, entry)
        if over is None or over >= event.ns:
            found[times[i]] = event.ns, vcpu.injections[i][1], event.name
    return found


def chain(vcpu, wake, in_ns):
    """[(time, event)] of entry and first event of the guest, as far as they are there."""
    steps = []
    out = first_at(vcpu.outs, in_ns) or 1 << 63
    entry = first_at(vcpu.entries, in_ns)
    if entry is None or entry > out:
        return steps
    steps.append((entry, None))
    i = bisect.bisect_left([e.ns for e in vcpu.events], entry)
    if i < len(vcpu.events) and vcpu.events[i].ns < out:
        steps.append((vcpu.events[i].ns, vcpu.events[i].name))
    return steps


def main():
    worst = json.load(open(sys.argv[1]))["worst"]
    report = json.load(open(sys.argv[2]))
    host, guest = sys.argv[4:6]
    tids = [int(tid) for tid in sys.argv[6:]]
    vcpus = read(sys.argv[3], host, guest, tids)
    names = {v["vcpu"]: v["tid"] for m in report["machines"] for v in m["vcpus"]}
    sums = {v["vcpu"]: v for v in report["interrupt_delivery"]["vcpus"]}
    errors = compared = chains = 0

    def expect(what, got, wanted):
        nonlocal errors, compared
        compared += 1
        if got != wanted:
            errors += 1
            print(f"  {what}: {got} in the report, {wanted} in the records")

    for name, tid in names.items():
        vcpu, seen = vcpus[tid], deliveries(vcpus[tid])
        got = {w["time_ns"]: (w["end_ns"], w["vector"], w["event"])
               for w in worst if w["kind"] == "irq" and w["vcpu"] == name}
        for ns in sorted(set(got) | set(seen)):
            expect(f"{name} injection at {ns}", got.get(ns), seen.get(ns))
        injected = collections.Counter(vector for _, vector in vcpu.injections)
        expect(f"{name} injected", {v["vector"]: v["injected"] for v in sums[name]["vectors"]},
               dict(injected))
        expect(f"{name} seen", {v["vector"]: v["seen"] for v in sums[name]["vectors"]
                                if v["seen"]},
               dict(collections.Counter(vector for _, vector, _ in seen.values())))
        costs = sorted(handler - ns for ns, (handler, _, _) in seen.items())
        expect(f"{name} p50, p99, max",
               [sums[name][key] for key in ("p50_ns", "p99_ns", "max_ns")],
               [costs[(len(costs) * p + 99) // 100 - 1] for p in (50, 99, 100)])
        for wake in worst:
            if wake["kind"] != "wake" or wake["vcpu"] != name or not wake["complete"]:
                continue
            chains += 1
            steps = {s["step"]: s for s in wake["chain"]}
            expect(f"{name} wake-up at {wake['time_ns']}",
                   (wake["time_ns"] in vcpu.wakes, wake["end_ns"] in vcpu.ins), (True, True))
            expect(f"{name} chain from {wake['time_ns']}",
                   [(steps[s]["time_ns"], steps[s].get("event")) for s in ("entry", "guest")
                    if s in steps], chain(vcpu, wake["time_ns"], wake["end_ns"]))
            expect(f"{name} steps from {wake['time_ns']}", sum(s["after_ns"] for s in wake["chain"]),
                   wake["chain"][-1]["time_ns"] - wake["time_ns"])
        print(f"  {name}: {len(vcpu.injections)} injections, {len(seen)} handlers seen")
    shown = collections.Counter((w["vector"], w["event"]) for w in worst if w["kind"] == "irq")
    for (vector, event), n in sorted(shown.items()):
        print(f"  0x{vector:02x} shown by {event}: {n}")
    print(f"  {chains} wake-ups; {compared} comparisons, {errors} differ")
    return errors > 0 or not compared


sys.exit(main())
