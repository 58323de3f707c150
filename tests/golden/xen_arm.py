#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A trace of Xen on Arm, as its common code writes it, and the truth about it: xen_arm.py SEED HZ TRACE TRUTH [EVENTS]

get_cycles() is the physical counter of the generic timer there (CNTPCT_EL0), which runs at HZ (CNTFRQ_EL0), and NOW() are
the same ticks in ns (xen/arch/arm/time.c). xen/arch/arm has no call of trace_time(): there is no record of VM entries and
exits. The scheduler is the common one (sched_switch_units(), trace_runstate_change() of xen/common/sched/core.c).
EVENTS: runstates alone, without the switches that have times in ns.
"""
import json
import random
import struct
import sys

IDLE = 0x7fff
RUNNING, RUNNABLE, BLOCKED = 0, 1, 2
INFPREV, INFNEXT, SWITCH, WAKE = 0x2800e, 0x2800f, 0x2800a, 0x28004
GRANT_MAP = 0x10f001
BOOT = 7_000_000_123


class Host:
    def __init__(self, rng, hz, bare):
        self.rng, self.hz, self.bare = rng, hz, bare
        self.records = [[], []]
        self.on = [(IDLE, 0), (IDLE, 1)]
        self.since = [0, 0]
        self.state, self.ran = {vcpu: RUNNING for vcpu in self.on}, {}

    def ticks(self, ns):
        return BOOT + ns * self.hz // 1_000_000_000

    def write(self, ns, pcpu, event, *words):
        self.records[pcpu].append((self.ticks(ns), event, words))

    def change(self, ns, pcpu, vcpu, new):
        old = self.state.get(vcpu, RUNNABLE)
        self.state[vcpu] = new
        self.write(ns, pcpu, 0x21001 | old << 8 | new << 4, vcpu[0] << 16 | vcpu[1])

    def switch(self, ns, pcpu, vcpu, left):
        before, ran = self.on[pcpu], ns - self.since[pcpu]
        if before == vcpu:
            return
        if not self.bare:
            self.write(ns, pcpu, INFPREV, before[0], before[1], ran & 0xffffffff)
            self.write(ns, pcpu, INFNEXT, vcpu[0], vcpu[1], 0, 0xffffffff)
            self.write(ns, pcpu, SWITCH, *before, *vcpu)
        self.change(ns, pcpu, before, left if before[0] != IDLE else RUNNABLE)
        self.change(ns, pcpu, vcpu, RUNNING)
        if before[0] != IDLE:
            self.ran.setdefault("d%dv%d" % before, []).append([self.since[pcpu], ns])
        self.on[pcpu], self.since[pcpu] = vcpu, ns

    def wake(self, ns, pcpu, vcpu):
        self.change(ns, pcpu, vcpu, RUNNABLE)
        if not self.bare:
            self.write(ns, pcpu, WAKE, *vcpu)


def main():
    seed, hz, trace, truth, *events = sys.argv[1:]
    host = Host(random.Random(int(seed)), int(hz), bool(events))
    rng, now = host.rng, 0
    # each vCPU stays on its pCPU: d0v0 and d1v0 share the first one, d0v1 has the second one
    waiting = [[(0, 0), (1, 0)], [(0, 1)]]
    asleep = [[], []]
    for vcpu in waiting[0] + waiting[1]:
        host.state[vcpu] = RUNNABLE
    while now < 2_000_000_000 or host.records[pcpu][-1][0] < host.ticks(now):
        now += rng.randrange(20_000, 900_000)
        pcpu = rng.randrange(2)
        if asleep[pcpu] and rng.random() < .5:
            vcpu = asleep[pcpu].pop()
            host.wake(now, pcpu, vcpu)
            waiting[pcpu].append(vcpu)
            now += rng.randrange(1000, 4000)
        before = host.on[pcpu]
        left = rng.choice([RUNNABLE, BLOCKED])
        if before[0] != IDLE:
            (waiting if left == RUNNABLE else asleep)[pcpu].append(before)
        vcpu = waiting[pcpu].pop(0) if waiting[pcpu] else (IDLE, pcpu)
        if vcpu == before:
            continue
        host.switch(now, pcpu, vcpu, left)
        if rng.random() < .1:
            host.write(now, pcpu, GRANT_MAP, 1)
    for pcpu, vcpu in enumerate(host.on):
        if vcpu[0] != IDLE:
            host.ran["d%dv%d" % vcpu].append([host.since[pcpu], now])
    with open(trace, "wb") as out:
        for pcpu, records in enumerate(host.records):
            data = b"".join(struct.pack("<IQ%dI" % len(words), 1 << 31 | len(words) << 28 | event, ticks, *words)
                            for ticks, event, words in records)
            out.write(struct.pack("<III", 0x2001f003, pcpu, len(data)) + data)
    first = min(records[0][0] for records in host.records)
    with open(truth, "w") as out:
        json.dump({"ran": host.ran, "first_tick": first, "ns": {v: sum(e - b for b, e in runs) for v, runs in
                                                                 host.ran.items()}}, out)


if __name__ == "__main__":
    main()
