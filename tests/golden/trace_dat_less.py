#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make an uncompressed trace.dat one of a recording without some events.

Usage: trace_dat_less.py FROM TO EVENT...

The formats of the events get another name of the same length, as if they were events that no one
knows: trace-cmd has the formats of enabled events only. Their records stay, and show no more than
which thread has the CPU.
"""
import sys

data = bytearray(open(sys.argv[1], "rb").read())
for event in sys.argv[3:]:
    name = b"name: " + event.encode() + b"\nID:"
    at = data.find(name)
    assert at >= 0, "no format of " + event
    data[at + 6:at + 7] = b"_"
open(sys.argv[2], "wb").write(data)
