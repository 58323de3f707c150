# SPDX-License-Identifier: LGPL-2.1-or-later
"""What QEMU says that it did is what KVM says that it was asked for.

    why_monitor.py WHY.json HOST.text WHY.text

Each access that "why" shows in a time in the monitor, by QEMU's log, is a kvm_mmio or kvm_pio that the host recorded of
the same thread, of the same address, size and direction, right there. Prints how many there were.
"""
import re
import sys

from json_documents import documents

LINE = re.compile(r"^\s*.*?-(\d+)\s+\[\d+\]\s*(?:[^\s\d]\S{3,5}\s+)?(\d+)\.(\d{9}):\s+(kvm_mmio|kvm_pio):\s+(.*)$")
MMIO = re.compile(r"mmio (unsatisfied-read|read|write) len (\d+) gpa (0x[0-9a-f]+)")
PIO = re.compile(r"pio_(read|write) at (0x[0-9a-f]+) size (\d+) count")
NEAR = 2000000		# ns: before it, the exit is handled in the kernel, also while its thread is preempted


def asked_of(path):
    """(time, thread, operation, address, size) of each."""
    for line in open(path, errors="replace"):
        match = LINE.match(line)
        if not match:
            continue
        time = int(match[2]) * 10**9 + int(match[3])
        mmio, pio = MMIO.search(match[5]), PIO.search(match[5])
        if mmio:
            yield time, int(match[1]), mmio[1].rpartition("-")[2], int(mmio[3], 16), int(mmio[2])
        elif pio:
            yield time, int(match[1]), pio[1], int(pio[2], 16), int(pio[3])


def segments_of(document):
    rest = list(document["segments"])
    while rest:
        segment = rest.pop()
        rest += segment["segments"]
        yield segment


def main(why, text, words, *threads):
    threads = dict(thread.split("=") for thread in threads)
    asked, printed = list(asked_of(text)), open(words).read()
    n = exits = 0
    for document in documents(why):
        for segment in segments_of(document):
            accesses = segment.get("monitor", [])
            assert not accesses or segment["kind"] == "vmm", segment
            for access in accesses:
                if "kvm_exit" in access:
                    exits += 1
                    continue
                near = [a for a in asked if abs(a[0] - access["time_ns"]) < NEAR and
                        a[1:] == (int(threads[segment["subject"]]), access["operation"], access["address"], access["bytes"])]
                assert near, (segment, access)
                assert "%s of %d B, %s at %#x" % (access["operation"], access["bytes"], access["device"],
                                                  access["address"]) in printed, access
                n += 1
    assert exits
    print(n)


main(*sys.argv[1:])
