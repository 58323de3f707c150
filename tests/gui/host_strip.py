#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Is a column of the window's strip what the samples of the host have?

host_strip.py SAMPLES.csv FROM TO COLUMN COLUMNS PIXELS: the window [FROM, TO) in ns; PIXELS has the colours of the column
from below, each with its height.
"""
import csv
import sys

KINDS = ["guest", "user", "system", "irq", "softirq", "steal", "iowait", "idle"]
WHITE, BLACK = "#ffffff", "#000000"

samples = [{key: int(value) for key, value in row.items() if value} for row in csv.DictReader(open(sys.argv[1]))]
begin, end, column, columns = (int(word) for word in sys.argv[2:6])
from_ns = begin + (end - begin) * column // columns
to_ns = begin + (end - begin) * (column + 1) // columns


def at(key, time):
    for a, b in zip(samples, samples[1:]):
        if a["time_ns"] <= time <= b["time_ns"]:
            return a[key] + (b[key] - a[key]) * (time - a["time_ns"]) / (b["time_ns"] - a["time_ns"])
    return None


def main():
    runs, line = [], 0
    for word in open(sys.argv[6]):
        height, colour = word.split()
        if colour == BLACK:
            line += int(height)
        elif runs and runs[-1][1] == colour:
            runs[-1][0] += int(height)
        else:
            runs.append([int(height), colour])
    total = sum(height for height, _ in runs) + line
    if at("idle_ns", from_ns) is None or at("idle_ns", to_ns) is None:
        assert [colour for _, colour in runs] == [WHITE], runs
        return
    used = [at(kind + "_ns", to_ns) - at(kind + "_ns", from_ns) for kind in KINDS]
    want, sums, edge = [], 0, 0
    for share in used:
        sums += share
        want.append(int(total * sums / sum(used)) - edge)
        edge = int(total * sums / sum(used))
    # a kind without a pixel is not seen; one pixel may be the line's, or another side of an edge
    want = [height for height in want if height > 0]
    got = [height for height, _ in runs]
    assert line >= 1, runs
    assert abs(len(got) - len(want)) <= 1, (runs, want)
    if len(got) == len(want):
        assert all(abs(a - b) <= 1 + line for a, b in zip(got, want)), (runs, want, line)
    assert abs(sum(got) + line - sum(want)) <= 1, (runs, want)


main()
