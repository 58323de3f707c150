#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of futex() as events of their own, or among all system calls.

usage: futex_files.py named|raw|both FILE

Two tasks wait, wake, are interrupted, and one does not return; in "both", each call has two records.
"""
import struct
import sys

import scale_files
from scale_files import Dat

LONG = ("unsigned long", "args[6]", 48, 0)
scale_files.EVENTS = dict(scale_files.EVENTS)
for number, name, system, fields in (
        (30, "sys_enter", "raw_syscalls", (("long", "id", 8, 1), LONG)),
        (31, "sys_exit", "raw_syscalls", (("long", "id", 8, 1), ("long", "ret", 8, 1))),
        (32, "sys_enter_futex", "syscalls", (("int", "__syscall_nr", 4, 1), ("u32 *", "uaddr", 8, 0),
                                             ("int", "op", 8, 0))),
        (33, "sys_exit_futex", "syscalls", (("int", "__syscall_nr", 4, 1), ("long", "ret", 8, 1)))):
    scale_files.EVENTS[name] = (number, system, fields)

FUTEX = 202
# who, and the beginning of a call: its address, its command; or the end: what it returns
CALLS = ((7, 0x7fff12345678, 0x80), (8, 0x7fff12345678, 0x81), (8, 1), (7, 0), (8, 0x1000, 0x109), (7, 0x2000, 6), (7, 0),
         (8, -110), (7, 0x7fff12345678, 0x8c), (7, 3), (8, 0x1000, 0x80))


def main(kind, path):
    dat = Dat(step=0)
    dat.add("kvm_entry", 2000, 0)
    for who, *call in CALLS:
        begins = len(call) == 2
        dat.time += 1000
        if kind != "named":
            # another one, and this one
            dat.add("sys_enter", 9, 1, struct.pack("<6Q", 1, 2, 3, 4, 5, 6))
            dat.add("sys_exit", 9, 1, 6)
            dat.add("sys_enter" if begins else "sys_exit", who, FUTEX,
                    struct.pack("<6Q", *call, 1, 2, 3, 4) if begins else call[0] % 2**64)
        if kind != "raw":
            dat.add("sys_enter_futex" if begins else "sys_exit_futex", who, FUTEX,
                    *[value % 2**64 for value in call])
    dat.time += 1000
    dat.add("kvm_entry", 2000, 0)
    with open(path, "wb") as file:
        file.write(dat.data())


main(*sys.argv[1:])
