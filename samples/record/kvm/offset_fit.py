#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""offset_fit.py HOST.report.gz GUEST.report.gz VCPU=TID[,VCPU=TID...] [GUESS SPAN]

Which offset (host time = guest time + offset) puts the guest's events where they must be: between a
kvm_entry and the next kvm_exit of their vCPU thread?  For traces without time-sync metadata (kvm-nosync),
and to judge an estimated one (kvm-ptp; GUESS 0 there: the report already applied the time shift).
Reads `trace-cmd report -t` text; the unit is ns, or raw TSC cycles where the report has no decimal point.

Every pair (guest event g, entry..exit interval a..b of its vCPU) votes for the offsets a-g .. b-g; the
offset with the most votes wins.  With GUESS and SPAN only GUESS-SPAN .. GUESS+SPAN is looked at; without,
a sample of the events is tried everywhere first.  Needs no module beyond Python's own.
"""
import bisect, gzip, random, re, sys

LINE = re.compile(r'^\s*.*-(\d+)\s+\[(\d+)\]\s*(\d+)(?:\.(\d{9}))?: +([\w-]+):')

def read(path):
    for line in gzip.open(path, 'rt', errors='replace'):
        m = LINE.match(line)
        if m:
            yield int(m[1]), int(m[2]), int(m[3]) * 10**9 + int(m[4]) if m[4] else int(m[3]), m[5]

def vote(events, spans, lo, hi):
    """most votes, and the interval of offsets that has them"""
    ends = []
    for c, g in events:
        starts, iv = spans[c]
        for a, b in iv[max(0, bisect.bisect_left(starts, g + lo) - 1):bisect.bisect_right(starts, g + hi)]:
            if b - g > lo and a - g < hi:
                ends.append((max(a - g, lo), 1)); ends.append((min(b - g, hi), -1))
    ends.sort(key=lambda e: (e[0], -e[1]))
    n = best = 0; at = (lo, hi); fresh = False
    for x, d in ends:
        n += d
        if d > 0 and n > best: best, start, fresh = n, x, True
        elif d < 0 and fresh: at, fresh = (start, x), False
    return best, at

host, guest = sys.argv[1:3]
vmap = dict(map(int, x.split('=')) for x in sys.argv[3].split(','))
iv, entered = {t: [] for t in vmap.values()}, {}
for tid, cpu, t, ev in read(host):
    if tid in iv:
        if ev == 'kvm_entry': entered[tid] = t
        elif ev == 'kvm_exit' and tid in entered: iv[tid].append((entered.pop(tid), t))
spans = {c: ([a for a, b in iv[t]], iv[t]) for c, t in vmap.items()}
events = [(cpu, t) for tid, cpu, t, ev in read(guest) if cpu in vmap]
if len(sys.argv) > 4:
    lo, hi = int(float(sys.argv[4])) - int(float(sys.argv[5])), int(float(sys.argv[4])) + int(float(sys.argv[5]))
else:
    random.seed(1)
    ts = [t for c, t in events]; hs = [t for s in iv.values() for ab in s for t in ab]
    n, (a, b) = vote(random.sample(events, min(400, len(events))), spans, min(hs) - max(ts), max(hs) - min(ts))
    print(f"coarse: {n} of {min(400, len(events))} sampled events inside, offsets {a} .. {b}")
    lo, hi = a - 200_000, b + 200_000
n, (a, b) = vote(events, spans, lo, hi)
print(f"best: {n} of {len(events)} guest events inside ({100*n/len(events):.3f}%), offset {a} .. {b} (width {b-a})")
