#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does each interval of a live top have the numbers of a trace that ends some time after it?

top_known.py FILE.xen LIVE.csv HZ HOLD-NS FOLDER [OPTION...]

FILE.xen is a whole trace; LIVE.csv is what top printed of it, piped, of its intervals. For each one,
the trace is cut HOLD-NS behind it, window by window as it was written, and top replays the interval
from that file. KSV_BIN is kshark-virt. Prints how many rows were compared, of how many intervals.
"""
import csv
import itertools
import os
import shutil
import struct
import subprocess
import sys

WINDOW = 0x2001f003


def records(data, begin, end, tsc):
    """Offset, size and TSC of each; one without a TSC has that of the record before it."""
    while begin < end:
        header, = struct.unpack_from("<I", data, begin)
        size = 4 + 4 * (header >> 28 & 7)
        if header >> 31:
            tsc, = struct.unpack_from("<Q", data, begin + 4)
            size += 8
        yield begin, size, tsc
        begin += size


def read(data):
    """The windows: pCPU and records. Of a pCPU, those before the first TSC have that one."""
    last, windows, at = {}, [], 0
    while at < len(data):
        word, pcpu, size = struct.unpack_from("<III", data, at)
        assert word == WINDOW
        window = list(records(data, at + 12, at + 12 + size, last.get(pcpu)))
        first = next((tsc for _, _, tsc in window if tsc is not None), None)
        window = [(begin, n, first if tsc is None else tsc) for begin, n, tsc in window]
        if window:
            last[pcpu] = window[-1][2]
        windows.append((pcpu, window))
        at += 12 + size
    return windows


def cut(data, windows, tsc, path):
    with open(path, "wb") as out:
        for pcpu, window in windows:
            kept = [(at, size) for at, size, at_tsc in window if at_tsc < tsc]
            if kept:
                out.write(struct.pack("<III", WINDOW, pcpu, sum(size for _, size in kept)))
            for at, size in kept:
                out.write(data[at:at + size])


def numbers(lines):
    """Rows, without notes."""
    return [row for row in csv.DictReader(lines) if row["section"] != "warning"]


def main():
    trace, live, hz, hold, folder = sys.argv[1:6]
    data = open(trace, "rb").read()
    windows = read(data)
    base = min(window[0][2] for _, window in windows if window)
    path = os.path.join(folder, "cut.xen")
    if os.path.exists(path + ".meta.json"):
        os.remove(path + ".meta.json")
    if os.path.exists(trace + ".meta.json"):
        shutil.copy(trace + ".meta.json", path + ".meta.json")
    rows = n = 0
    with open(live, newline="") as file:
        got = numbers(file)
    for (begin, end), printed in itertools.groupby(got, lambda row: (row["from_ns"], row["to_ns"])):
        moment = int(end) + int(hold)
        cut(data, windows, base + -(-moment * int(hz) // 10 ** 9), path)
        out = subprocess.run([os.environ["KSV_BIN"], "top", "--quiet", "--format", "csv",
                              "--cpu-hz", hz, "--interval", "10000", "--from", begin + "ns",
                              "--to", end + "ns", *sys.argv[6:], path],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        printed = list(printed)
        wanted = numbers(out.splitlines())
        # live, a record beyond the hold shows that the interval went on; the file ends before it does
        if any(row["to_ns"] != end for row in wanted):
            continue
        for a, b in itertools.zip_longest(wanted, printed):
            if a != b:
                sys.exit("%s: from %s to %s: %s, not %s" % (trace, begin, end, b, a))
        rows += len(printed)
        n += 1
    print(rows, n)


main()
