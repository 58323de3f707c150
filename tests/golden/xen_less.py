#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Leave records out of an undamaged xentrace file, or make them others.

Usage: xen_less.py FROM.xen TO.xen CONDITION

A record stays if CONDITION, a Python expression of "pcpu" and "event", is true. If it is a number, that
is its event from now on.
"""
import struct
import sys

WINDOW = 0x2001f003
keep = eval("lambda pcpu, event: " + sys.argv[3])
data = open(sys.argv[1], "rb").read()
out = bytearray()
at = 0
while at < len(data):
    header, pcpu, size = struct.unpack_from("<III", data, at)
    assert header == WINDOW, "offset %d: no window" % at
    at += 12
    end = at + size
    window = bytearray()
    while at < end:
        header, = struct.unpack_from("<I", data, at)
        size = 4 + 4 * (header >> 28 & 7) + 8 * (header >> 31)
        kept = keep(pcpu, header & 0xfffffff)
        if kept is not False:
            event = header & 0xfffffff if kept is True else kept
            window += struct.pack("<I", header & 0xf0000000 | event) + data[at + 4:at + size]
        at += size
    out += struct.pack("<III", WINDOW, pcpu, len(window)) + window
open(sys.argv[2], "wb").write(out)
