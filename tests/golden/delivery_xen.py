#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check deliveries into a domain of Xen against its records; as delivery_oracle.py, from the guest.

Usage: delivery_xen.py WORST.json ROWS.csv TEXT META.json

WORST.json comes from "kshark-virt report --format json --worst 1000000 --kind irq", ROWS.csv from
"kshark-virt dump --format csv" of the host's trace, TEXT from "trace-cmd report -l" of the guest's,
in cycles, META.json from "kshark-virt align --write". Only d1 is looked at.
"""
import bisect
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"^.*-\d+ +(\d+)(\S{5,6}) +(\d+): +([\w-]+):")
worst = json.load(open(sys.argv[1]))["worst"]
rows = list(csv.DictReader(open(sys.argv[2])))
offset = json.load(open(sys.argv[4]))["alignment"]["offset"]
first, last = rows[0], rows[-1]
# ns per cycle, from both ends of the host's trace
scale = (int(last["time_ns"]) - int(first["time_ns"])) / (int(last["tsc"]) - int(first["tsc"]))

injections, entries = collections.defaultdict(list), collections.defaultdict(list)
for row in rows:
    if row["domid"] == "1" and row["event"] in ("inj_virq", "vmentry"):
        of = injections if row["event"] == "inj_virq" else entries
        of["d1v" + row["vcpu"]].append((int(row["tsc"]), int(row["time_ns"])))
events = collections.defaultdict(list)
for line in open(sys.argv[3], errors="replace"):
    m = LINE.match(line)
    if m:
        events[f"d1v{m[1]}"].append((int(m[3]) + offset, m[2], m[4]))

errors = compared = 0
for name, of in events.items():
    tscs = [tsc for tsc, _ in injections[name]]
    enabled = [tsc for tsc, flags, _ in of if flags[0] == "." and flags[2] not in "hHzZ"]
    seen = {}
    for tsc, flags, event in of:
        i = bisect.bisect_right(tscs, tsc) - 1
        if flags[2] not in "hH" or i < 0 or injections[name][i][1] in seen or tscs[i] < of[0][0]:
            continue
        j = bisect.bisect_left(entries[name], (tscs[i], 0))
        if j == len(entries[name]) or entries[name][j][0] > tsc:
            continue
        k = bisect.bisect_left(enabled, entries[name][j][0])
        if k == len(enabled) or enabled[k] >= tsc:
            seen[injections[name][i][1]] = (tsc - tscs[i]) * scale, event
    got = {w["time_ns"]: (w["cost_ns"], w["event"]) for w in worst if w["vcpu"] == name}
    for ns in sorted(set(got) | set(seen)):
        compared += 1
        a, b = got.get(ns), seen.get(ns)
        if not a or not b or a[1] != b[1] or abs(a[0] - b[0]) > 10:
            errors += 1
            print(f"  {name} injection at {ns}: {a} in the report, {b} in the records")
    print(f"  {name}: {len(tscs)} injections, {len(seen)} handlers seen")
print(f"  {compared} comparisons, {errors} differ")
sys.exit(errors > 0 or compared < 1000)
