#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""hypertrace.py HOST.dat GUEST.dat [CPUS]: what a guest reported by hypercalls, against what its own ftrace recorded.

The calls are decoded here once more, by docs/hypertrace-format.md alone. The guest's ftrace began before its
module did, and ended after it: every sched_switch that was reported must be there, on its CPU, in order, none left
out, with its pids, priorities and state; and with functions in its ftrace, each entry in its place among the switches.
Calls are kvm_hypercall, or hypergraph_host, which has its exit and entry in it and is recorded at the latter. HOST
may be a xentrace file of a domain whose vCPUs have a pCPU each, GUEST the text of its ftrace; both may be gzipped.
Times are compared if the ftrace counts the guest's TSC (trace_clock x86-tsc). The last line is the result; the exit
status is 0 if all is the same.
"""
import gzip
import re
import struct
import subprocess
import sys

STATES = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128, "R+": 256}
# trace-cmd 3.3 puts five flags there (d..2.), and a long time follows them without a blank
FLAGS = r"(?: [^\s\d]\S{4})?"
BASE = 0xffffffff80000000
# fields of packed events: u unsigned, p one more, s signed, a address
FIELDS = {1: "upuup", 2: "uup", 3: "upu", 4: "u", 5: "uu", 6: "u", 7: "u", 8: "p", 9: "ps", 10: "u", 11: "a",
          12: "as", 13: "a", 14: "a", 16: "u", 17: "uu", 18: "u"}


class Bytes:
    def __init__(self, words):
        # under Xen, the last 4 are not there
        self.data = b"".join(word.to_bytes(8, "little") for word in words)
        self.at = 4

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def field(form, value):
    if form in "sa":
        value = (value >> 1) ^ -(value & 1)
    return value - 1 if form == "p" else value + BASE if form == "a" else value


def packed(words):
    """(kind, cycles before the call, fields) of each event."""
    data = Bytes(words)
    header = words[0] & 0xffffffff
    shift, age = header & 31, (header >> 10) << (header >> 5 & 31)
    last = None
    while data.at < 32:
        tag = data.byte()
        if not tag:
            return
        kind = tag & 31 if tag & 31 < 31 else data.byte()
        age -= data.varint()
        if tag >> 5 == 7:
            length = data.varint()
            data.at += length
            yield kind, age << shift, []
            continue
        values = [data.varint() for _ in range(tag >> 5)]
        values = [field(form, value) for form, value in zip(FIELDS.get(kind, ""), values)]
        if kind == 2:
            kind, values = 1, last[3:5] + values
        if kind == 1:
            last = values
        yield kind, age << shift, values


def signed(value):
    return value - 0x10000 if value & 0x8000 else value


def plain(words):
    a0, a1 = words[:2]
    values = []
    if a0 & 255 == 1:
        values = [a1 & 0xffffffff, signed(a0 >> 16 & 0xffff), a0 >> 32 & 0xffff, a1 >> 32, signed(a0 >> 48)]
    elif a0 & 255 == 13:
        values = [a1]
    yield a0 & 255, 0, values


def host_ns(time):
    seconds, fraction = time.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


# thread, time, nr, a0..a3; hypergraph_host: and how many ns its exit was before
CALLS = (re.compile(r"-(\d+)\s+\[\d+\]" + FLAGS + r"\s*([\d.]+):\s+kvm_hypercall:\s+"
                    r"nr 0x(\w+) a0 0x(\w+) a1 0x(\w+) a2 0x(\w+) a3 0x(\w+)()"),
         re.compile(r"-(\d+)\s+\[\d+\]" + FLAGS + r"\s*([\d.]+):\s+hypergraph_host:\s+"
                    r"nr=(\d+), a0=(\d+), a1=(\d+), a2=(\d+), a3=(\d+), .*overhead=(\d+)"))


def data_of(path):
    return (gzip.open if path.endswith(".gz") else open)(path, "rb").read()


def xen_calls(path):
    """(pCPU, TSC, [nr, a0, a1, a2, a3]) of the records of class guest (xen/include/public/trace.h), which have the
    time of the last record of their pCPU that has one."""
    data, at, pcpu, tsc = data_of(path), 0, None, {}
    while at + 4 <= len(data):
        header, = struct.unpack_from("<I", data, at)
        extra, event = header >> 28 & 7, header & 0xfffffff
        first = at + (12 if header >> 31 else 4)
        if header >> 31:
            tsc[pcpu], = struct.unpack_from("<Q", data, at + 4)
        if event == 0x1f003:
            pcpu, = struct.unpack_from("<I", data, first)
        elif event >> 12 == 0x800f:
            words = struct.unpack_from("<%dI" % extra, data, first) + (0,) * (8 - extra)
            yield pcpu, tsc.get(pcpu, 0), \
                [0x48541000 | event & 0xfff] + [words[i] | words[i + 1] << 32 for i in (0, 2, 4, 6)]
        at = first + 4 * extra


def calls_of(path):
    """(thread, ns, [nr, a0, a1, a2, a3]) of each, as trace-cmd prints them."""
    report = subprocess.run(["trace-cmd", "report", "-t", "-i", path], check=True, text=True, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for base, calls in zip((16, 10), CALLS):
        for thread, time, *words, overhead in calls.findall(report):
            yield thread, host_ns(time) - int(overhead or 0), [int(word, base) for word in words]


def reported(path):
    """By guest CPU: switches and entries of functions as (ns, fields); how many calls, events ...; the frequency
    of the guest's TSC."""
    counts = {"calls": 0, "events": 0, "missing": 0, "lost": 0, "foreign": 0}
    cpu_of, sequence, switches, khz = {}, {}, {}, 0
    xen = re.search(r"\.xen(\.gz)?$", path)
    for thread, time, (nr, *words) in (xen_calls if xen else calls_of)(path):
        if nr >> 12 != 0x48541:
            counts["foreign"] += 1
            continue
        counts["calls"] += 1
        if nr >> 8 & 15 == 4:
            if words[0] & 255 == 1:
                cpu_of[thread], khz = words[2] >> 32, words[2] & 0xffffffff
                sequence[thread] = 0
            elif words[0] & 255 == 3:
                counts["lost"] += words[3]
        counts["missing"] += (nr - sequence.get(thread, nr)) & 255
        sequence[thread] = nr + 1
        if nr >> 8 & 15 == 4:
            continue
        for kind, age, values in (packed if nr >> 8 & 15 == 6 else plain)(words):
            counts["events"] += 1
            if kind in (1, 13) and xen:
                switches.setdefault(cpu_of[thread], []).append((time * 1000000 // khz - age * 1000000 // khz, values))
            elif kind in (1, 13):
                switches.setdefault(cpu_of[thread], []).append((time - age * 1000000 // khz, values))
    return switches, counts, khz


def guest_lines(path):
    if re.search(r"\.txt(\.gz)?$", path):
        return data_of(path).decode(errors="replace").splitlines()
    return subprocess.run(["trace-cmd", "report", "-N", "-i", path], check=True, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()


def recorded(path):
    """By CPU: switches and entries of functions of the guest's ftrace as (time, fields); are there any of the latter?"""
    events, functions = {}, False
    for line in guest_lines(path):
        match = re.search(r"\[(\d+)\]" + FLAGS + r"\s*([\d.]+): (sched_switch|function): (.*)", line)
        if not match:
            continue
        cpu, time, what, fields = match.groups()
        if what == "function":
            functions = True
            values = [int(re.match(r"\s*(?:0x)?([0-9a-f]+) ", fields)[1], 16)]
        else:
            pid, prio, state, next_pid, next_prio = re.search(
                r"prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> .*next_pid=(\d+) next_prio=(-?\d+)",
                fields).groups()
            values = [int(pid), int(prio), STATES[state], int(next_pid), int(next_prio)]
        events.setdefault(int(cpu), []).append((float(time) if "." in time else int(time), values))
    return events, functions


def find(wanted, got):
    """Where the one list lies in the other, or -1."""
    for start in range(len(got) - len(wanted) + 1):
        if got[start:start + len(wanted)] == wanted:
            return start
    return -1


def late(ours, theirs, khz):
    """How many ns later the host has each of them, the least of them being 0: sorted."""
    apart = sorted(host - guest * 1000000 // khz for (host, _), (guest, _) in zip(ours, theirs))
    return [ns - apart[0] for ns in apart]


def main(host, guest):
    got, counts, khz = reported(host)
    wanted, functions = recorded(guest)
    bad = len(got) < CPUS or counts["missing"] > 0 or counts["lost"] > 0
    print(", ".join("%d %s" % (count, name) for name, count in counts.items()))
    print("%.2f calls, which are VM exits, per event" % (counts["calls"] / max(counts["events"], 1)))
    same = entries = 0
    for cpu, ours in sorted(got.items()):
        ours = [event for event in ours if functions or len(event[1]) > 1]
        theirs = wanted.get(cpu, [])
        start = find([fields for _, fields in ours], [fields for _, fields in theirs])
        here = sum(len(fields) == 1 for _, fields in ours)
        what = "%d switches%s" % (len(ours) - here, " and %d entries of functions" % here if functions else "")
        if start < 0:
            print("CPU %d: %s are not reported as they were recorded" % (cpu, what))
            bad = True
            continue
        same += len(ours) - here
        entries += here
        print("CPU %d: %s are the same; recorded before: %d, after: %d" %
              (cpu, what, start, len(theirs) - start - len(ours)))
        if isinstance(theirs[0][0], int):
            ns = late(ours, theirs[start:], khz)
            print("CPU %d: times differ by up to %d us, half of them by up to %d us" %
                  (cpu, ns[-1] // 1000, ns[len(ns) // 2] // 1000))
    print("%s: %d switches%s one to one" % ("different" if bad else "the same", same,
                                            ", %d entries of functions" % entries if functions else ""))
    return bad or not same


# CPUs of the guest: a trace with reports of fewer is not the one that was to be recorded
CPUS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
sys.exit(main(*sys.argv[1:3]))
