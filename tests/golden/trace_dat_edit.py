#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Damage a trace.dat file of version 7: trace_dat_edit.py IN OUT PYTHON

PYTHON changes "d", the file's bytes, and has the functions below.
"""
import struct
import sys

d = bytearray(open(sys.argv[1], "rb").read())


def link():
    """Where the offset of the first section of options is."""
    name = 18
    return d.index(0, d.index(0, name) + 1) + 1


def options():
    """Where that section is."""
    return struct.unpack_from("<Q", d, link())[0]


def find(number):
    """Where the data of an option are."""
    at = options() + 16
    while True:
        found, size = struct.unpack_from("<HI", d, at)
        if found == number:
            return at + 6
        at += 6 + size
        if found == 0:
            at = struct.unpack_from("<Q", d, at - 8)[0] + 16


def section(number):
    """The section that an option is about."""
    return struct.unpack_from("<Q", d, find(number))[0]


def buffer():
    """Behind the name and the clock of a buffer: page size, number of CPUs, CPUs."""
    return d.index(0, d.index(0, find(3) + 8) + 1) + 1


def cpu(number):
    """Where the records of a CPU are."""
    return struct.unpack_from("<Q", d, buffer() + 8 + 20 * number + 4)[0]


def put(at, value, size=4):
    """Set a number."""
    struct.pack_into({4: "<I", 8: "<Q"}[size], d, at, value)


exec(sys.argv[3])
with open(sys.argv[2], "wb") as file:
    file.write(d)
