#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make a trace with irq_vectors, which no sample has, of one with irq:irq_handler_entry.

Usage: irq_vectors.py IN OUT VECTOR

IN is a trace.dat of version 6 ("trace-cmd convert --file-version 6"), which is not compressed. The
system "irq" becomes "irq_vectors", the field irq of irq_handler_entry "vector", and its value VECTOR;
the event's description is filled up so that the records stay on page boundaries.
"""
import re
import struct
import sys

PAGE = 4096
data = bytearray(open(sys.argv[1], "rb").read())
vector = int(sys.argv[3], 0)

event = data.index(b"name: irq_handler_entry\nID: ")
size, = struct.unpack_from("<Q", data, event - 8)
text = bytes(data[event:event + size])
number = int(re.search(rb"ID: (\d+)", text)[1])

# the records: type, flags, preempt count, pid, irq
head = re.escape(struct.pack("<H", number)) + rb"..[\0-\xff]{2}\0\0"
start = data.index(b"flyrecord\0")
changed = 0
for m in re.finditer(head + rb"(.)\0{3}\x10\0\x08\0", bytes(data[start:]), re.S):
    struct.pack_into("<I", data, start + m.start(1), vector)
    changed += 1

# where each CPU's records are
at = start + len(b"flyrecord\0")
while True:
    offset, length = struct.unpack_from("<QQ", data, at)
    if not PAGE <= offset <= len(data) or offset % PAGE or offset + length > len(data):
        break
    struct.pack_into("<Q", data, at, offset + PAGE)
    at += 16

system = data.rindex(b"irq\0", 0, event)
renamed = text.replace(b"field:int irq;", b"field:int vector;").replace(b"REC->irq", b"REC->vector")
renamed += b" " * (PAGE - len("_vectors") - (len(renamed) - len(text)))
data[event - 8:event + size] = struct.pack("<Q", len(renamed)) + renamed
data[system:system + 3] = b"irq_vectors"
open(sys.argv[2], "wb").write(data)
print(f"{changed} records changed")
sys.exit(changed == 0)
