#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write a small trace in CTF 1.8 as LTTng does, with events that LTTng has discarded.

    ctf_make.py FOLDER [HOSTNAME [tids]]

Layout: the specification of CTF 1.8.3; the packet header and context are those of
lttng-tools (src/bin/lttng-sessiond/ust-metadata.cpp), and the folder index is that of its
include/lttng/lttng-index.h. CPU 0 has two channels. The channel c discards 7
events between its packets, while the channel d has one record there. CPU 1 discards 3 before its first
record, as the counter of its first packet has them. A vCPU, thread 100, runs on CPU 0. With "tids", the channel d
has the context tid, always 7, and the scheduler's events have another name.
"""
import os
import struct
import sys
import uuid

MAGIC = 0xC1FC1FC1
HOST = sys.argv[2] if len(sys.argv) > 2 else "box"
HAS_TIDS = sys.argv[3:] == ["tids"]
UUID = bytes(range(12)) + HOST.encode()[:4].ljust(4, b"-")

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
	major = 1; minor = 8; uuid = "%s"; byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
env { hostname = "%s"; domain = "kernel"; sysname = "Linux"; kernel_release = "6.1.0";
	tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; };
clock { name = "monotonic"; freq = 1000000000; offset = 1700000000000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;
struct context { time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size;
	uint64_t events_discarded; uint32_t cpu_id; };
struct header { uint32_t id; time_t timestamp; };
"""

STREAM = "stream {{ id = {}; event.header := struct header; packet.context := struct context; }};\n"
INTEGER = "integer {{ size = {}; align = 8; signed = {}; }}"
TID = INTEGER.format(32, 1)
LONG = INTEGER.format(64, 0)
TEXT = "integer { size = 8; align = 8; signed = 1; encoding = UTF8; }"

# id: name, fields (declaration), layout
EVENTS = {
    0: ("sched_other" if HAS_TIDS else "sched_switch", f"{TEXT} _prev_comm[16]; {TID} _prev_tid; {TID} _prev_prio; "
        f"{INTEGER.format(64, 1)} _prev_state; {TEXT} _next_comm[16]; {TID} _next_tid; "
        f"{TID} _next_prio;", "<16siiq16sii"),
    1: ("kvm_x86_entry", f"{INTEGER.format(32, 0)} _vcpu_id;", "<I"),
    2: ("kvm_x86_exit", f"{INTEGER.format(32, 0)} _exit_reason; {LONG} _guest_rip; "
        f"{INTEGER.format(32, 0)} _isa; {LONG} _info1; {LONG} _info2;", "<IQIQQ"),
    3: ("irq_handler_entry", f"{TID} _irq; string _name;", None),
}


def switch(prev, state, then):
    return 0, (prev[0].encode(), prev[1], 20, state, then[0].encode(), then[1], 20)


def event(ns, number, values):
    layout = EVENTS[number][2]
    body = struct.pack(layout, *values) if layout else struct.pack("<i", values[0]) + values[1]
    context = struct.pack("<i", 7) if HAS_TIDS and number == 3 else b""
    return struct.pack("<IQ", number, ns) + context + body


def packet(stream, cpu, discarded, events):
    body = b"".join(event(ns, *e) for ns, e in events)
    size = 8 * (24 + 44 + len(body))
    return (struct.pack("<I16sI", MAGIC, UUID, stream) +
            struct.pack("<QQQQQI", events[0][0], events[-1][0], size, size, discarded, cpu) + body)


IDLE, VCPU, TASK = ("swapper/0", 0), ("CPU 0/KVM", 100), ("task", 7)
ENTRY, EXIT_HLT, EXIT_MSR = (1, (0,)), (2, (12, 1, 1, 0, 0)), (2, (32, 1, 1, 0, 0))

STREAMS = {
    # before the first switch, the thread is known by it
    "c_0": [packet(0, 0, 0, [(1000, EXIT_MSR), (2000, ENTRY), (5000, EXIT_HLT),
                             (6000, switch(VCPU, 1, IDLE)), (10000, switch(IDLE, 0, VCPU)),
                             (11000, ENTRY)]),
            packet(0, 0, 7, [(50000, EXIT_MSR), (51000, ENTRY), (59000, EXIT_MSR), (60000, switch(VCPU, 256, TASK))])],
    "d_0": [packet(1, 0, 0, [(3000, (3, (9, b"disk\0"))), (30000, (3, (9, b"disk\0"))),
                             (61000, (3, (9, b"disk\0")))])],
    "c_1": [packet(0, 1, 3, [(1500, switch(IDLE, 0, TASK)), (40000, switch(TASK, 1, IDLE))])],
}


def index(packets):
    """Offset, sizes in bits, times, counter, numbers of stream, instance and packet."""
    entries, offset = b"", 0
    for number, data in enumerate(packets):
        stream = struct.unpack_from("<I", data, 20)[0]
        begin, end, content, size, discarded, cpu = struct.unpack_from("<QQQQQI", data, 24)
        entries += struct.pack(">9Q", offset, size, content, begin, end, discarded, stream, cpu, number)
        offset += len(data)
    return struct.pack(">4I", 0xC1F1DCC1, 1, 1, 72) + entries


def main():
    folder = sys.argv[1]
    os.makedirs(os.path.join(folder, "index"))
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as f:
        f.write(METADATA % (uuid.UUID(bytes=UUID), HOST))
        for stream in (0, 1):
            f.write(STREAM.format(stream).replace(
                " };\n", f" event.context := struct {{ {TID} tid; }}; }};\n"
                if HAS_TIDS and stream else " };\n"))
            for number, (name, fields, _) in EVENTS.items():
                if (number == 3) == (stream == 1):
                    f.write(f'event {{ name = "{name}"; id = {number}; stream_id = {stream}; '
                            f"fields := struct {{ {fields} }}; }};\n")
    for name, packets in STREAMS.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(b"".join(packets))
        with open(os.path.join(folder, "index", name + ".idx"), "wb") as f:
            f.write(index(packets))


main()
