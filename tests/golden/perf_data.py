#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "perf record -a" would have written of the events in a trace.dat: perf_data.py TRACE FILE [HOW...]

TRACE is of version 6, not compressed: trace-cmd convert --file-version 6 --compression none. HOW:

    pipe        as through a pipe
    zstd        compressed records, as "perf record -z" writes them; needs the command zstd
    ids         the id after the time, instead of at the beginning; call chains, values of a group of counters
    threads     a buffer per thread and not per CPU: only times and rounds show the order
    task        of certain tasks: what the map of threads says
    alone       one event: no ids, no map of CPUs
    cycles      samples of cycles as well
    unfinished  as of a perf record that was killed
    cpus        of two CPUs of all
    big         of a big-endian host
    folder      as "perf record --threads": FILE is a folder; CPU 0 and 1 have a file each, the others one together
    lose        100 samples of CPU 2 are lost in the middle, and of CPU 0 all from the 1001st on

Two numbers go to standard output: samples, and those that were lost at the end. Layout: Linux's tools/perf/Documentation/perf.data-file-format.txt.
"""
import os
import re
import struct
import subprocess
import sys

import tracefs

IP, TID, TIME, READ, CALLCHAIN, ID, CPU, PERIOD, RAW, IDENTIFIER = \
    1, 2, 4, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 10, 1 << 16
GROUP_ID, GROUP_LOST = 1 << 2 | 1 << 3, 1 << 4
LOST, COMM, SAMPLE, LOST_SAMPLES, ROUND, THREADS, CPUS, FEATURE, COMPRESSED = 2, 3, 9, 13, 68, 73, 74, 80, 81
N_ROUNDS = 20
MAGIC = {"<": b"PERFILE2", ">": b"2ELIFREP"}


order = "<"


def pack(what, *values):
    return struct.pack(order + what, *values)


def record(kind, body, misc=0):
    body += b"\0" * (-len(body) % 8)
    return pack("IHH", kind, misc, 8 + len(body)) + body


def text(string):
    raw = string.encode() + b"\0"
    raw += b"\0" * (-len(raw) % 64)
    return pack("I", len(raw)) + raw


class Maker:
    def __init__(self, trace, how):
        self.trace, self.how, self.n = trace, how, 0
        self.seen, self.at_end = {}, 0
        self.sample_type = IP | TID | TIME | CPU | PERIOD | RAW
        if "ids" in how:
            self.sample_type |= ID | CALLCHAIN | READ
        elif "alone" not in how:
            self.sample_type |= IDENTIFIER
        self.events = [int(re.search(rb"^ID: (\d+)", f, re.M)[1]) for name, f in trace.files.items() if "/" in name]
        self.fields = {
            int(re.search(rb"^ID: (\d+)", f, re.M)[1]):
            [(name, int(offset), int(size)) for name, offset, size in
             re.findall(rb"field:([^;]*);\s*offset:(\d+);\s*size:(\d+);", f)]
            for name, f in trace.files.items() if "/" in name}
        if "alone" in how:
            self.events = self.events[:1]

    # ids: of the event with number N on a CPU; that of cycles is after all others
    def id(self, number, cpu):
        return 1 + number * len(self.trace.cpus) + cpu

    def attr(self, kind, config, sample_type):
        flags = 1 << 1 | 1 << 18                        # inherit, sample_id_all
        if order == ">":
            flags = 1 << 62 | 1 << 45                   # bits begin at the other end
        read = GROUP_ID | GROUP_LOST if "ids" in self.how else 0
        return pack("IIQQQQQ", kind, 128, config, 1, sample_type, read, flags).ljust(128, b"\0")

    def attrs(self):
        """(attribute, ids) of each event."""
        for number, event in enumerate(self.events):
            yield self.attr(2, event, self.sample_type), [] if "alone" in self.how else \
                [self.id(number, cpu) for cpu in range(len(self.trace.cpus))]
        if "cycles" in self.how:
            yield self.attr(0, 0, self.sample_type & ~RAW), [self.id(len(self.events), 0)]

    def tail(self, time, cpu, number=0):
        """What records that are no samples have at their end."""
        tail = pack("iiQ", 0, 0, time)
        if "ids" in self.how:
            tail += pack("Q", self.id(number, cpu))
        tail += pack("II", cpu, 0)
        if self.sample_type & IDENTIFIER:
            tail += pack("Q", self.id(number, cpu))
        return tail

    def sample(self, time, cpu, event):
        kind, _, pid = struct.unpack_from("<HHi", event)
        number = 0 if "alone" in self.how else self.events.index(kind)
        if order == ">":
            event = self.swap(kind, event)
        body = b""
        if self.sample_type & IDENTIFIER:
            body += pack("Q", self.id(number, cpu))
        body += pack("QiiQ", 0xffffffff81000000, pid, pid, time)
        if "ids" in self.how:
            body += pack("Q", self.id(number, cpu))
        body += pack("IIQ", cpu, 0, 1)
        if "ids" in self.how:
            n = self.n % 3                              # counters of the group
            body += pack("Q", n) + pack("QQQ", 7, 8, 9) * n
            body += pack("Q3Q", 3, 1, 2, 3)
        raw = event + b"\0" * (-(4 + len(event)) % 8)
        body += pack("I", len(raw)) + raw
        self.n += 1
        return record(SAMPLE, body)

    def swap(self, kind, event):
        """The fields of an event in the other order of bytes."""
        event = bytearray(event)
        for name, offset, size in self.fields[kind]:
            if size in (2, 4, 8) and (b"[" not in name or b"__data_loc" in name):
                event[offset:offset + size] = event[offset:offset + size][::-1]
        return bytes(event)

    def cycles(self, time, cpu):
        body = pack("Q", self.id(len(self.events), 0)) if self.sample_type & IDENTIFIER else b""
        return record(SAMPLE, body + pack("QiiQIIQ", 0x1000, 1, 1, time, cpu, 0, 1))

    def lose(self, cpu):
        """How many samples were lost before this one; None: it is lost itself."""
        if "lose" not in self.how:
            return 0
        self.seen[cpu] = self.seen.get(cpu, 0) + 1
        n = self.seen[cpu]
        if cpu == 2:
            return None if 1000 <= n < 1100 else 100 if n == 1100 else 0
        if cpu == 0 and n > 1000:
            self.at_end += 1
            return None
        return 0

    def sums(self):
        """What the kernel's own counters of two events say of CPU 0, read at the end."""
        if "lose" not in self.how:
            return b""
        return b"".join(record(LOST_SAMPLES, pack("Q", n) + self.tail(0, 0, number))
                        for number, n in ((0, self.at_end - 20), (1, 20)))

    def buffers(self):
        """What each ring buffer has: (time, record)."""
        found, late = {}, 0
        for cpu in range(len(self.trace.cpus)):
            for time, lost, event in self.trace.events(cpu):
                # after its head; of a large one, its size is there, too
                event = event[4:] if event[0] & 31 else event[8:]
                lost = max(lost, 1) if lost else self.lose(cpu)
                if lost is None:
                    continue
                key = struct.unpack_from("<i", event, 4)[0] if "threads" in self.how else cpu
                to = found.setdefault(key, [])
                if lost:
                    # its time is that of the moment when there was room again
                    to.append((time, record(LOST, pack("QQ", self.id(0, cpu), lost) +
                                            self.tail(time + 500, cpu))))
                to.append((time, self.sample(time, cpu, event)))
                if "cycles" in self.how and self.n % 10 == 0:
                    to.append((time, self.cycles(time, cpu)))
        if "threads" in self.how:
            for each in found.values():
                each.sort(key=lambda x: x[0])
        return list(found.values())

    def rounds(self):
        """As perf record reads: each buffer in turn, up to a time that grows while it does."""
        buffers = self.buffers()
        first, last = min(b[0][0] for b in buffers), max(b[-1][0] for b in buffers)
        step = (last - first) // N_ROUNDS + 1
        at = [0] * len(buffers)
        for number in range(N_ROUNDS + 1):
            for i, buffer in enumerate(buffers):
                until = first + step * number + step * i // (2 * len(buffers))
                begin = at[i]
                while at[i] < len(buffer) and (buffer[at[i]][0] <= until or number == N_ROUNDS):
                    at[i] += 1
                yield b"".join(r for _, r in buffer[begin:at[i]])
            yield record(ROUND, b"")

    def comms(self):
        for line in self.trace.comms.decode().splitlines():
            pid, name = line.split(" ", 1)
            pid = int(pid)
            yield record(COMM, pack("ii", pid, pid) + name.encode().ljust(16, b"\0") + self.tail(0, 0))

    def maps(self):
        threads = [4711, 4712] if "task" in self.how else [-1]
        yield record(THREADS, pack("Q", len(threads)) + b"".join(
            pack("q16s", pid, b"name") for pid in threads))
        cpus = [0, 1] if "cpus" in self.how else range(len(self.trace.cpus))
        if "alone" not in self.how:
            yield record(CPUS, pack("HH", 0, len(cpus)) + b"".join(pack("H", cpu) for cpu in cpus))

    def pieces(self):
        """Of a folder: the records of its files, without heads and rounds."""
        buffers = self.buffers()
        for part in buffers[:1], buffers[1:2], buffers[2:]:
            data = b"".join(r for buffer in part for _, r in buffer)
            yield self.compress(data) if "zstd" in self.how else data

    def records(self):
        head = b"".join(self.maps()) + b"".join(self.comms())
        if "folder" in self.how:
            return head + self.sums()
        data = b"".join(self.rounds()) + self.sums()
        return head + (self.compress(data) if "zstd" in self.how else data)

    def compress(self, data):
        """Each compressed record gives something, or perf takes it for damaged; records lie across them."""
        step, packed = 99999, b""
        for i in range(0, len(data), step):
            frame = subprocess.run(["zstd", "-q", "-c"], input=data[i:i + step], stdout=subprocess.PIPE,
                                   check=True).stdout
            # not rounded up: all that a record has goes into the stream
            packed += pack("IHH", COMPRESSED, 0, 8 + len(frame)) + frame
        return packed

    def tracing(self):
        """Formats: the head of a trace.dat of old."""
        files = self.trace.files
        data = b"\x17\x08Dtracing0.6\0" + pack("BBI", order == ">", 8, 4096)
        for name in "header_page", "header_event":
            data += name.encode() + b"\0" + pack("Q", len(files[name])) + files[name]
        systems = {}
        for name, text_ in files.items():
            if "/" in name:
                systems.setdefault(name.split("/")[0], []).append(text_)
        # those of ftrace itself have a place of their own
        own = systems.pop("ftrace", [])
        data += pack("I", len(own)) + b"".join(pack("Q", len(f)) + f for f in own)
        data += pack("I", len(systems))
        for system, formats in systems.items():
            data += system.encode() + b"\0" + pack("I", len(formats))
            data += b"".join(pack("Q", len(f)) + f for f in formats)
        for text_ in self.trace.symbols, self.trace.printk:
            data += pack("I", len(text_)) + text_
        return data + pack("Q", 0)

    def features(self):
        n = len(self.trace.cpus)
        found = {1: self.tracing(), 3: text("there"), 4: text("6.1.0-test"), 6: text("x86_64"),
                 7: pack("II", n, n)}
        if "folder" in self.how:
            times = [time for cpu in range(n) for time, _, _ in self.trace.events(cpu)]
            found[21] = pack("QQ", min(times), max(times))
            found[24] = pack("Q", 1)
        if "zstd" in self.how:
            found[27] = pack("IIIII", 1, 1, 1, 5, 1 << 22)
        return found

    def pipe(self):
        data = MAGIC[order] + pack("Q", 16)
        for attr, ids in self.attrs():
            data += record(64, attr + pack("%dQ" % len(ids), *ids))
        features = self.features()
        tracing = features.pop(1)
        for number, content in features.items():
            data += record(FEATURE, pack("Q", number) + content)
        data += record(66, pack("I", len(tracing))) + tracing + b"\0" * (-len(tracing) % 8)
        return data + self.records()

    def file(self):
        attrs, ids_at = list(self.attrs()), 104
        ids = b"".join(pack("%dQ" % len(i), *i) for _, i in attrs)
        attrs_at = ids_at + len(ids)
        entries = b""
        for attr, own in attrs:
            entries += attr + pack("QQ", ids_at, 8 * len(own))
            ids_at += 8 * len(own)
        records_at = attrs_at + len(entries)
        records = self.records()
        features = self.features()
        bits = sum(1 << number for number in features)
        tail, at = b"", records_at + len(records) + 16 * len(features)
        for content in features.values():
            tail += pack("QQ", at, len(content))
            at += len(content)
        tail += b"".join(features.values())
        size = len(records)
        if "unfinished" in self.how:
            size, bits, tail, records = 0, 0, b"", records[:-5]
        head = MAGIC[order] + pack("QQQQQQQQ", 104, 144, attrs_at, len(entries), records_at, size, 0, 0)
        return head + pack("4Q", bits, 0, 0, 0) + ids + entries + records + tail


def main():
    global order
    path, to, *how = sys.argv[1:]
    order = ">" if "big" in how else "<"
    maker = Maker(tracefs.Trace(path), how)
    if "folder" in how:
        os.mkdir(to)
        files = {"/data.%d" % n: data for n, data in enumerate(maker.pieces())}
        files["/data"] = maker.file()
    else:
        files = {"": maker.pipe() if "pipe" in how else maker.file()}
    for name, data in files.items():
        with open(to + name, "wb") as file:
            file.write(data)
    print(maker.n, maker.at_end)


if __name__ == "__main__":
    main()
