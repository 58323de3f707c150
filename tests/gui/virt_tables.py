# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judge the dock's lists: their order, copies of them, the colours of the matrix.

virt_tables.py sorted COPY TITLE     the column of a copied list is sorted, within each machine of the table
                                     of vCPUs; "up", "down" or, if all are alike, "same"
virt_tables.py copied COPY ITEMS     the copied table of vCPUs is what is seen (of the probe's items)
virt_tables.py heat CSV CELLS PIXELS X Y W   each cell of the matrix is as hot as its part of the most: cells
                                     of the probe; pixels of the rectangle that begins there, so wide
"""
import csv
import re
import sys

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
HOTTEST = (0xb8, 0x79, 0xb1)  # of PREEMPTED in virt_colors.c


def number(text):
    """A number, with a unit perhaps; nothing is 0; None: it is a text."""
    found = re.fullmatch(r"[\u2264\u2265]? ?(\d[\d.]*)(?: \+ \d+)?(?: (ns|us|ms|s))?", text)
    return float(found[1]) * UNITS.get(found[2], 1) if found else None if text else 0


def direction(cells):
    numbers = [number(cell) for cell in cells]
    values = cells if None in numbers else numbers
    up = all(a <= b for a, b in zip(values, values[1:]))
    down = all(a >= b for a, b in zip(values, values[1:]))
    return ["not sorted: %s" % values, "down", "up", "same"][2 * up + down]


def rows_of(path):
    with open(path) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    assert all(len(line) == len(lines[0]) for line in lines), lines
    return lines[0], lines[1:]


def is_sorted(path, title):
    titles, rows = rows_of(path)
    column = titles.index(title)
    groups, machines = [], []
    for row in rows:
        if titles[0] != "vCPU" or "v" in row[0]:
            groups = groups or [[]]
            groups[-1].append(row[column])
        else:
            machines.append(row[column])
            groups.append([])
    found = {direction(group) for group in groups + [machines]} - {"same"}
    print(" ".join(found) or "same")


def is_copied(path, items):
    titles, rows = rows_of(path)
    with open(items) as file:
        seen = [line.rstrip("\n").split("\t")[0].split(" | ") for line in file]
    assert len(rows) == len(seen) > 3, (rows, seen)
    for row, cells in zip(rows, seen):
        left = iter(cells)
        assert all(any(cell == mine for cell in left) for mine in row), (row, cells)
    assert "States" not in titles and titles[:2] == ["vCPU", "Guest %"], titles
    print(len(rows), "rows")


def heat(path, cells, pixels, x0, y0, width):
    with open(path) as file:
        rows = [list(map(int, row[1:])) for row in list(csv.reader(file))[1:]]
    with open(pixels) as file:
        colours = file.read().split()
    most = max(max(row[1:]) for row in rows)
    n, tones = 0, set()
    with open(cells) as file:
        for line in file:
            row, column, _, x, y, w, h = line.rstrip("\n").split("\t")
            row, column, x, y, w, h = map(int, (row, column, x, y, w, h))
            if x < x0 or x + w > x0 + width or (y + h - y0) * width > len(colours):
                continue
            # neither sums at the left nor those below, if there is room for them
            share = rows[row][column] / most if column and row < len(rows) else 0
            wanted = "#%02x%02x%02x" % tuple(255 - int(share * (255 - c)) for c in HOTTEST)
            got = colours[(y + 2 - y0) * width + x + 2 - x0]
            assert got == wanted, (row, column, rows[row][column], most, got, wanted)
            n += 1
            tones.add(got)
    assert n > 3 and "#%02x%02x%02x" % HOTTEST in tones and len(tones) > 2, (n, tones)
    print(n, "cells of", len(tones), "tones")


def main():
    what, *words = sys.argv[1:]
    if what == "heat":
        heat(*words[:3], *map(int, words[3:]))
    else:
        {"sorted": is_sorted, "copied": is_copied}[what](*words)


main()
