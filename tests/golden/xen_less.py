#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Leave records out of an undamaged xentrace file.

Usage: xen_less.py FROM.xen TO.xen CONDITION

A record stays if CONDITION, a Python expression of "pcpu" and "event", is true.
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
        if keep(pcpu, header & 0xfffffff):
            window += data[at:at + size]
        at += size
    out += struct.pack("<III", WINDOW, pcpu, len(window)) + window
open(sys.argv[2], "wb").write(out)
