#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Let one buffer of a trace.dat (version 6, trace-cmd record -B) lose records in its middle.

Usage: buffer_loss.py FROM TO BUFFER CPU LOST

A page of the middle of BUFFER on CPU is marked as the kernel marks one before which it has overwritten LOST records;
an only page becomes two. Prints the times between which they are missing.
"""
import struct
import sys

PAGE = 4096
MISSED, STORED = 1 << 31, 1 << 30	# of the size of a page: records before it are missing, their number follows


def find_buffer(data, name):
    """The place of a buffer's list of CPUs. Options are between "options  \\0" and the records."""
    at = data.index(b"options  \0") + 10
    while True:
        option, size = struct.unpack_from("<HI", data, at)
        assert option, "no buffer " + name
        if option == 3 and data[at + 14:at + 6 + size].rstrip(b"\0") == name.encode():
            return struct.unpack_from("<Q", data, at + 6)[0]
        at += 6 + size


def records(page):
    """(offset, end, time) of each record of a page, and the time before it."""
    time, size = struct.unpack_from("<QQ", page)
    at, end = 16, 16 + (size & 0xfffff)
    while at < end:
        head = struct.unpack_from("<I", page, at)[0]
        kind, before = head & 31, time
        time += head >> 5
        if kind == 30:
            time += struct.unpack_from("<I", page, at + 4)[0] << 27
            at += 8
            continue
        assert kind < 29, "not a record"
        following = at + 4 + (4 * kind if kind else struct.unpack_from("<I", page, at + 4)[0])
        yield at, following, before, time
        at = following


def split(page):
    """Two pages of one."""
    every = list(records(page))
    at, _, before, _ = every[len(every) // 2]
    end = every[-1][1]
    first = page[:8] + struct.pack("<Q", at - 16) + page[16:at]
    # the time since the record before is in its first word
    second = struct.pack("<QQ", before, end - at) + page[at:end]
    return [first.ljust(PAGE, b"\0"), second.ljust(PAGE, b"\0")]


def mark(page, lost):
    size = struct.unpack_from("<Q", page, 8)[0] & 0xfffff
    assert size + 24 <= PAGE, "no room for the number"
    return (page[:8] + struct.pack("<Q", size | MISSED | STORED) + page[16:16 + size] +
            struct.pack("<Q", lost)).ljust(PAGE, b"\0")


def main():
    path, to, name, cpu, lost = sys.argv[1:]
    data = bytearray(open(path, "rb").read())
    place = find_buffer(data, name) + 10 + 16 * int(cpu)
    offset, size = struct.unpack_from("<QQ", data, place)
    pages = [bytes(data[at:at + PAGE]) for at in range(offset, offset + size, PAGE)]
    if len(pages) == 1:
        pages = split(pages[0])
    middle = len(pages) // 2
    pages[middle] = mark(pages[middle], int(lost))
    data.extend(bytes(-len(data) % PAGE))
    struct.pack_into("<QQ", data, place, len(data), len(pages) * PAGE)
    open(to, "wb").write(data + b"".join(pages))
    print(list(records(pages[middle - 1]))[-1][3], next(records(pages[middle]))[3])


main()
