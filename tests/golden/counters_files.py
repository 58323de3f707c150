#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small perf.data with counters of a processor, which this machine may not have: counters_files.py CASE FILE

    runs        a vCPU and dd, with cycles, instructions and cache misses of both sides at each switch
    sides       the same with cycles of the host, of guests, and without a word
    shared      perf counts in turns
    states      readings at entries and exits as well
    gaps        losses, a switch without a record, a counter that begins anew
    no-times    without the times that counters counted
    no-ids      without ids of the events
    one         a counter alone in its group: no group at all
    plain       no counter
"""
import struct
import sys

import scale_files
from scale_files import event_format

scale_files.EVENTS["sched_waking"] = (40, "sched", (("pid_t", "pid", 4, 1),))
EVENTS = scale_files.EVENTS

IDENTIFIER, TID, TIME, READ, CPU, RAW = 1 << 16, 2, 4, 1 << 4, 1 << 7, 1 << 10
ENABLED, RUNNING, ID, GROUP = 1, 2, 4, 8
SAMPLE, LOST, ATTR, TRACING, FEATURE = 9, 2, 64, 66, 80
SAMPLE_TYPE = IDENTIFIER | TID | TIME | CPU | RAW
NO_GUEST, NO_HOST, NO_KERNEL = 1 << 20, 1 << 19, 1 << 5
RUNNABLE, SLEEPS = 0, 1
VCPU, DD, CP = 2000, 3000, 3001


def record(kind, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


class Perf:
    """The stream of perf record -o -; ids of an event are 10 * its number + CPU."""

    def __init__(self, counters, read_format=ENABLED | RUNNING | ID | GROUP, tracepoints=("sched_switch",)):
        self.format, self.readers = read_format, tracepoints
        self.counters, self.attrs, self.body = counters, b"", b""
        self.values = [[1000 * (i + 1) for i in range(len(counters))] for _ in range(2)]
        self.times = [[10**6, 10**6], [10**6, 10**6]]
        self.names = []
        for name, (event, _, _) in EVENTS.items():
            reads = READ if name in tracepoints else 0
            self.attr(2, event, 0, SAMPLE_TYPE | reads, "%s:%s" % (EVENTS[name][1], name))
        for name, kind, config, flags in counters:
            self.attr(kind, config, flags, SAMPLE_TYPE | READ, name)

    def attr(self, kind, config, flags, sample_type, name):
        number = len(self.names)
        attr = struct.pack("<IIQQQQQ", kind, 128, config, 1, sample_type, self.format if sample_type & READ else 0,
                           flags | 1 << 18).ljust(128, b"\0")
        ids = [10 * number + cpu for cpu in range(2)]
        self.attrs += record(ATTR, attr + struct.pack("<2Q", *ids))
        text = name.encode().ljust(64, b"\0")
        self.names.append(attr + struct.pack("<II", 2, 64) + text + struct.pack("<2Q", *ids))

    def number(self, name):
        return list(EVENTS).index(name)

    def count(self, cpu, *deltas, enabled=1000, running=1000):
        """What the counters of a CPU count from here on."""
        for i, delta in enumerate(deltas[:len(self.counters)]):
            self.values[cpu][i] += delta
        self.times[cpu][0] += enabled
        self.times[cpu][1] += running

    def read(self, name, cpu):
        values = [(7, 10 * self.number(name) + cpu)]
        values += [(value, 10 * (len(EVENTS) + i) + cpu) for i, value in enumerate(self.values[cpu])]
        body = struct.pack("<Q", len(values)) if self.format & GROUP else b""
        if not self.format & GROUP:
            values = values[1:2]
        times = b"".join(struct.pack("<Q", time) for bit, time in zip((ENABLED, RUNNING), self.times[cpu])
                         if self.format & bit)
        pairs = b"".join(struct.pack("<Q", value) + (struct.pack("<Q", number) if self.format & ID else b"")
                         for value, number in values)
        return body + times + pairs if self.format & GROUP else pairs[:8] + times + pairs[8:]

    def add(self, time, cpu, name, pid, *values):
        event, _, fields = EVENTS[name]
        raw = struct.pack("<HBBi", event, 0, 0, pid)
        for (_, _, size, _), value in zip(fields, values):
            raw += value if isinstance(value, bytes) else struct.pack({4: "<I", 8: "<Q"}[size], value)
        body = struct.pack("<QiiQII", 10 * self.number(name) + cpu, pid, pid, 10**9 + 1000 * time, cpu, 0)
        if name in self.readers:
            body += self.read(name, cpu)
        self.body += record(SAMPLE, body + struct.pack("<I", len(raw)) + raw)

    def switch(self, time, cpu, before, after, state=SLEEPS):
        names = {VCPU: b"CPU 0/KVM", DD: b"dd", CP: b"cp", 0: b"swapper/0"}
        self.add(time, cpu, "sched_switch", before, state, names[after].ljust(16, b"\0"), after)

    def lose(self, cpu, n):
        number = 10 * self.number("sched_switch") + cpu
        self.body += record(LOST, struct.pack("<QQiiQIIQ", number, n, 0, 0, 0, cpu, 0, number))

    def data(self):
        systems = {}
        for name, (number, system, fields) in EVENTS.items():
            systems.setdefault(system, []).append(event_format(name, number, fields).encode())
        tracing = b"\x17\x08Dtracing0.5\0\0\x08" + struct.pack("<I", 4096)
        tracing += b"header_page\0" + struct.pack("<Q", 0) + b"header_event\0" + struct.pack("<Q", 0)
        tracing += struct.pack("<II", 0, len(systems))
        for system, texts in systems.items():
            tracing += system.encode() + b"\0" + struct.pack("<I", len(texts))
            tracing += b"".join(struct.pack("<Q", len(text)) + text for text in texts)
        tracing += struct.pack("<II", 0, 0)
        names = struct.pack("<II", len(self.names), 128) + b"".join(self.names)
        return b"PERFILE2" + struct.pack("<Q", 16) + self.attrs + \
            record(FEATURE, struct.pack("<Q", 12) + names) + record(TRACING, struct.pack("<I", len(tracing))) + \
            tracing + b"\0" * (-len(tracing) % 8) + self.body


BOTH = [("cycles:GH", 0, 0, 0), ("cpu/instructions/GH", 0, 1, 0), ("cache-misses:GH", 0, 3, 0), ("page-faults", 1, 2, 0)]


def guest(perf, begin, end):
    """The vCPU enters its guest after 1 us, and leaves it 1 us before the end; in the middle, too."""
    middle = (begin + end) // 2
    for time, event in ((begin + 1, "entry"), (middle, "exit"), (middle + 1, "entry"), (end - 1, "exit")):
        perf.add(time, 0, "kvm_" + event, VCPU, *((0,) if event == "entry" else (12, 1, 0)))
        perf.count(0, *PARTS.get((event, time == begin + 1), ()))


PARTS = {}


def runs(perf):
    """On CPU 0: the vCPU, preempted by dd, again the vCPU, idle, and the vCPU after its wake-up."""
    perf.switch(100, 0, 0, VCPU)
    guest(perf, 100, 120)
    perf.count(0, 20000, 30000, 100, 1, enabled=20000, running=20000)
    perf.switch(120, 0, VCPU, DD, RUNNABLE)
    perf.count(0, 60000, 15000, 900, 2, enabled=30000, running=30000)
    perf.switch(150, 0, DD, VCPU)
    guest(perf, 150, 170)
    perf.count(0, 40000, 20000, 400, 0, enabled=20000, running=20000)
    perf.switch(170, 0, VCPU, 0)
    perf.count(0, 10, 5, 0, 0, enabled=31000, running=31000)
    perf.add(200, 0, "sched_waking", 0, VCPU)
    perf.add(200, 0, "sched_wakeup", 0, VCPU)
    perf.switch(201, 0, 0, VCPU)
    guest(perf, 201, 221)
    perf.count(0, 30000, 45000, 150, 0, enabled=20000, running=20000)
    perf.switch(221, 0, VCPU, 0)
    return perf


def make(case):
    if case == "sides":
        perf = runs(Perf([("cycles", 0, 0, NO_GUEST), ("instructions:G", 0, 1, NO_HOST), ("cycles:G", 0, 0, NO_HOST),
                          ("cycles:k", 0, 0, NO_GUEST | 1 << 4)]))
    elif case == "states":
        PARTS.update({("entry", True): (100, 150), ("exit", False): (10, 5), ("entry", False): (200, 340)})
        perf = runs(Perf(BOTH[:2], tracepoints=("sched_switch", "kvm_entry", "kvm_exit")))
    elif case == "no-times":
        perf = runs(Perf(BOTH, ID | GROUP))
    elif case == "no-ids":
        perf = runs(Perf(BOTH, ENABLED | RUNNING | GROUP))
    elif case == "plain":
        perf = runs(Perf(BOTH, tracepoints=()))
    elif case == "one":
        perf = runs(Perf(BOTH[:1], ENABLED | RUNNING | ID))
    else:
        perf = runs(Perf(BOTH))
    if case == "shared":
        # a moment less; a turn of others, in which switches have no record; not at all
        perf.switch(300, 1, 0, DD)
        perf.count(1, 1000, 2000, 3, 0, enabled=400000, running=320000)
        perf.switch(700, 1, DD, CP)
        perf.count(1, 3000, 4000, 5, 1, enabled=8000000, running=4000000)
        perf.switch(8700, 1, CP, DD)
        perf.count(1, 0, 0, 0, 0, enabled=10000, running=0)
        perf.switch(8710, 1, DD, 0)
    if case == "gaps":
        perf.switch(300, 1, 0, DD)
        perf.count(1, 1000, 2000, 3, 0)
        perf.lose(1, 4)
        perf.switch(310, 1, DD, CP)
        # cp goes, and dd comes, without a record
        perf.count(1, 500, 700, 1, 0)
        perf.switch(320, 1, DD, CP)
        perf.values[1] = [5, 6, 7, 8]
        perf.switch(330, 1, CP, DD)
        perf.count(1, 50, 60, 70, 80)
        perf.switch(340, 1, DD, 0)
    return perf.data()


def main(case, path):
    with open(path, "wb") as file:
        file.write(make(case))


main(*sys.argv[1:])
