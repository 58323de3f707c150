#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""plot_png.py PNG WIDTH HEIGHT COLOR...: size (0: any), white edges, and many pixels of each colour.

PLOT_PNG_LEAST: that many, if not 200. PLOT_PNG_EDGES=any: edges may have any colour.
"""
import os
import struct
import sys
import zlib
from collections import Counter


def read(path):
    """(width, height, rows of RGB pixels)"""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit("no PNG")
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT":
            packed += body
        at += size + 12
    if depth != 8 or color != 2:
        sys.exit("no 8-bit RGB")
    raw, stride = zlib.decompress(packed), 3 * width
    rows, last = [], bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for i in range(stride):
            a, b = row[i - 3] if i > 2 else 0, last[i]
            c = last[i - 3] if i > 2 else 0
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[kind]) & 0xff
        rows.append([bytes(row[i:i + 3]) for i in range(0, stride, 3)])
        last = row
    return width, height, rows


width, height, rows = read(sys.argv[1])
if any(int(wanted) not in (0, size) for wanted, size in zip(sys.argv[2:4], (width, height))):
    sys.exit("%d x %d" % (width, height))
edges = rows[0] + rows[-1] + [row[0] for row in rows] + [row[-1] for row in rows]
if set(edges) != {b"\xff\xff\xff"} and os.environ.get("PLOT_PNG_EDGES") != "any":
    sys.exit("the edges are not white: %s" % Counter(edges))
count = Counter(pixel for row in rows for pixel in row)
for color in sys.argv[4:]:
    n = count[bytes.fromhex(color)]
    print("%s: %d pixels" % (color, n))
    if n < int(os.environ.get("PLOT_PNG_LEAST", "200")):
        sys.exit("hardly any pixel is %s" % color)
