#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""40-index.py WORKDIR: one line per recorded scenario -> WORKDIR/out/INDEX.tsv

Counts straight from trace.xen (xenalyze's raw dump repeats some cpu-change records, so its line
count is a little too high): records, lost records, TSC range, pCPUs, records per class.
"""
import collections
import os
import struct
import sys

NAMES = {0x001: "gen", 0x002: "sched", 0x004: "dom0op", 0x008: "hvm", 0x010: "mem",
         0x020: "pv", 0x040: "shadow", 0x080: "hw", 0x800: "guest"}
out = os.path.join(sys.argv[1], "out")
rows = [("scenario bytes records kHz first_tsc last_tsc span_s pcpus "
         "lost_records lost_total classes").split()]
for name in sorted(os.listdir(out)):
    path = os.path.join(out, name, "trace.xen")
    if not os.path.exists(path):
        continue
    khz = next(int(round(float(l.split(":")[1]) * 1000))
               for l in open(os.path.join(out, name, "notes.txt")) if l.startswith("cpu_mhz"))
    b = open(path, "rb").read()
    i = n = lost = lost_total = 0
    lo, hi, cpus, cls = None, 0, set(), collections.Counter()
    while i + 4 <= len(b):
        h, = struct.unpack_from("<I", b, i)
        event, extra, has_tsc = h & 0x0FFFFFFF, h >> 28 & 7, h >> 31
        body = i + 4 + 8 * has_tsc
        if has_tsc:
            tsc, = struct.unpack_from("<Q", b, i + 4)
            lo, hi = tsc if lo is None else min(lo, tsc), max(hi, tsc)
        if event == 0x1F003:
            cpus.add(struct.unpack_from("<I", b, body)[0])
        if event == 0x1F001:
            lost, lost_total = lost + 1, lost_total + struct.unpack_from("<I", b, body)[0]
        cls[event >> 16] += 1
        i, n = body + 4 * extra, n + 1
    assert i == len(b), (path, i, len(b))
    rows.append([name, len(b), n, khz, lo, hi, f"{(hi - lo) / khz / 1000:.3f}", len(cpus), lost,
                 lost_total, " ".join(f"{NAMES.get(c, hex(c))}:{k}" for c, k in sorted(cls.items()))])
with open(os.path.join(out, "INDEX.tsv"), "w") as f:
    for r in rows:
        f.write("\t".join(map(str, r)) + "\n")
print(open(os.path.join(out, "INDEX.tsv")).read(), end="")
