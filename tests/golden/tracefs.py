#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a kernel would show in tracefs while it records what a trace.dat has.

tracefs.py formats TRACE ROOT           the formats of its events, below ROOT/sys/kernel/tracing
tracefs.py feed TRACE FOLDER SECONDS [CPU FROM TO]
                                        its records, into FOLDER/per_cpu/cpuN/trace_pipe_raw; those of
                                        one CPU between two times (ns since the first one) are lost:
                                        how many they are is printed

TRACE is of version 6, not compressed: trace-cmd convert --file-version 6 --compression none. A record
is there as soon as any later one is, as in the kernel: those that follow each other on a CPU make a
page, and pages are written one after the other, spread over some seconds.
"""
import os
import struct
import sys
import time

PAGE = 4096
MISSED, STORED = 1 << 31, 1 << 30


class Trace:
    """Formats, and the pages of each CPU."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        assert self.data[:10] == b"\x17\x08Dtracing" and self.data[10:12] == b"6\0", path
        self.at = 12 + 2
        self.page_size = self.number(4)
        assert self.page_size == PAGE
        self.files = {}
        for name in "header_page", "header_event":
            assert self.text() == name
            self.files[name] = self.block(8)
        self.formats("ftrace")
        for _ in range(self.number(4)):
            self.formats(self.text())
        self.symbols, self.printk, self.comms = self.block(4), self.block(4), self.block(8)
        n_cpus = self.number(4)
        assert self.text() == "options  "
        while self.number(2):
            self.block(4)
        assert self.text() == "flyrecord"
        self.cpus = [(self.number(8), self.number(8)) for _ in range(n_cpus)]

    def formats(self, system):
        for _ in range(self.number(4)):
            text = self.block(8)
            name = text.split(b"\n", 1)[0].split()[1].decode()
            self.files["%s/%s/format" % (system, name)] = text

    def number(self, size):
        self.at += size
        return int.from_bytes(self.data[self.at - size:self.at], "little")

    def text(self):
        begin, self.at = self.at, self.data.index(0, self.at) + 1
        return self.data[begin:self.at - 1].decode()

    def block(self, size):
        n = self.number(size)
        self.at += n
        return self.data[self.at - n:self.at]

    def events(self, cpu):
        """Time, records lost before it (-1: an unknown number), and the event."""
        offset, size = self.cpus[cpu]
        for page in range(offset, offset + size, PAGE):
            now, commit = struct.unpack_from("<QQ", self.data, page)
            at, end, lost = page + 16, page + 16 + (commit & 0xfffff), 0
            if commit & MISSED:
                lost = struct.unpack_from("<Q", self.data, end)[0] if commit & STORED else -1
            while at < end:
                head, more = struct.unpack_from("<II", self.data, at)
                kind, delta = head & 31, head >> 5
                if kind == 30:                          # the time goes on
                    now += delta + (more << 27)
                    at += 8
                elif kind == 31:                        # a time by itself
                    now = now & ~((1 << 59) - 1) | delta + (more << 27)
                    at += 8
                elif kind == 29:                        # nothing
                    now += delta
                    at += 4 + more if delta else end
                else:
                    n = kind * 4 + 4 if kind else more + 4
                    now += delta
                    yield now, lost, self.data[at:at + n]
                    at, lost = at + n, 0


def page_of(events):
    """A page with these events, of which the first may come after lost ones."""
    now, lost, _ = events[0]
    body = b""
    for then, _, event in events:
        delta = then - now
        if delta >> 27:
            body += struct.pack("<II", 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
            delta = 0
        head, = struct.unpack_from("<I", event)
        body += struct.pack("<I", head & 31 | delta << 5) + event[4:]
        now = then
    flags = lost and (MISSED if lost < 0 else MISSED | STORED)
    page = struct.pack("<QQ", events[0][0], len(body) | flags) + body
    if lost > 0:
        page += struct.pack("<Q", lost)
    assert len(page) <= PAGE
    return page + bytes(PAGE - len(page))


def without(events, of, begin, end):
    """Those of a CPU between two times are lost."""
    first, lost, total = min(event[0] for event in events), 0, 0
    for then, cpu, n, before, event in events:
        if cpu == of and begin <= then - first < end:
            lost += 1
            total += 1
            continue
        if cpu == of and lost:
            before, lost = lost, 0
        yield then, cpu, n, before, event
    print(total)


def pages(trace, losing):
    """CPU and page, in the order in which they have to be there."""
    events = sorted((time, cpu, n, lost, event) for cpu in range(len(trace.cpus))
                    for n, (time, lost, event) in enumerate(trace.events(cpu)))
    if losing:
        events = list(without(events, *losing))
    run, of, size = [], None, 0
    for then, cpu, _, lost, event in events:
        if run and (cpu != of or lost or size + len(event) + 8 > PAGE - 32):
            yield of, page_of(run)
            run, size = [], 0
        run.append((then, lost, event))
        of, size = cpu, size + len(event) + 8
    if run:
        yield of, page_of(run)


def main():
    trace = Trace(sys.argv[2])
    if sys.argv[1] == "formats":
        for name, text in trace.files.items():
            path = os.path.join(sys.argv[3], "sys/kernel/tracing/events", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text)
        return
    files = [open("%s/per_cpu/cpu%d/trace_pipe_raw" % (sys.argv[3], cpu), "ab", buffering=0)
             for cpu in range(len(trace.cpus))]
    todo = list(pages(trace, [int(text) for text in sys.argv[5:]]))
    turns = max(1, int(float(sys.argv[4]) / 0.05))
    for turn in range(turns):
        for cpu, page in todo[len(todo) * turn // turns:len(todo) * (turn + 1) // turns]:
            files[cpu].write(page)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
