# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the rows of a guest lie in guest time, according to the list and the host's model?

align_lib.py MODEL.csv TID,TID... ROWS STREAM

ROWS are the lines of KernelShark's list: stream, number, CPU, time in us, ... The guest's CPU n is
thread TID n. Times are cut to us, so a row may be 1 us early. Prints what has been judged; fails if
a row is outside, or if there are few.
"""
import bisect
import csv
import sys

LEAST = 5000


def main():
    path, tids, rows, stream = sys.argv[1:5]
    tids = tids.split(",")
    spans = {tid: [] for tid in tids}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "vcpu" and row["number"] in spans:
                spans[row["number"]].append((int(row["from"]), int(row["to"]), row["state"]))
    for tid in tids:
        spans[tid].sort()
    starts = {tid: [span[0] for span in spans[tid]] for tid in tids}
    inside = outside = 0
    with open(rows) as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if cells[0] != stream:
                continue
            tid = tids[int(cells[2])]
            early = int(cells[3].replace(".", "")) * 1000
            late = early + 999
            # all states at this time, to the microsecond
            first = bisect.bisect_right(starts[tid], early) - 1
            last = bisect.bisect_right(starts[tid], late)
            states = {state for begin, end, state in spans[tid][max(first, 0):last]
                      if end > early}
            if not states or "unknown" in states:
                continue
            if "guest" in states:
                inside += 1
            else:
                outside += 1
    print("stream %s: %d rows in guest time, %d outside" % (stream, inside, outside))
    return outside > 0 or inside < LEAST


sys.exit(main())
