#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check.py DIR: are the guests' events where they must be?

Reads DIR/together.report.gz (trace-cmd's merged report, time sync applied) and the guest maps in
*.options.txt, and counts, per guest CPU, the guest events that lie between a kvm_entry and the next
kvm_exit of the vCPU thread that is that CPU.  With right time sync and a right map nearly all do
(a guest CPU can only execute, hence trace, between the two).  Writes DIR/check.txt.
"""
import gzip, re, sys, os, glob, collections
d = sys.argv[1]
host = 'trace.dat' if os.path.exists(f'{d}/trace.dat') else 'both.dat'
LINE = re.compile(r'^\s*(\S+\.dat):\s+(.*)-(\d+)\s+\[(\d+)\]\s+(\d+\.\d+): +([\w-]+):')
GUEST = re.compile(r'\[Option GUEST.*?\n(.*?) \[Guest name\]\n(0x[0-9A-F]+) \[trace id\]\n(\d+) \[Guest CPUs\]\n((?:  \d+ -?\d+ .*\n)*)')
maps = {}                                   # trace id -> {vcpu: tid}
for m in GUEST.finditer(open(f'{d}/{host[:-4]}.options.txt').read()):
    maps[m[2]] = (m[1], {int(a): int(b) for a, b in re.findall(r'  (\d+) (-?\d+) ', m[4])})
files, tid2 = {}, {}                        # guest file -> map; tid -> (file, vcpu)
for f in glob.glob(f'{d}/{host[:-4]}-*.dat'):
    o = open(f[:-4] + '.options.txt').read()
    tidm = re.search(r'Option TRACEID.*\n(0x[0-9A-F]+)', o)[1]
    if tidm in maps:
        files[os.path.basename(f)] = maps[tidm]
        for c, t in maps[tidm][1].items():
            tid2[t] = (os.path.basename(f), c)
state, seen = {}, collections.defaultdict(collections.Counter)
out_kinds = collections.Counter()
with gzip.open(f'{d}/together.report.gz', 'rt', errors='replace') as fh:
    for line in fh:
        m = LINE.match(line)
        if not m:
            continue
        f, tid, cpu, ev = m[1], int(m[3]), int(m[4]), m[6]
        if f == host:
            if ev in ('kvm_entry', 'kvm_exit') and tid in tid2:
                state[tid2[tid]] = ev == 'kvm_entry'
        elif f in files:
            s = state.get((f, cpu))
            seen[f, cpu][{None: 'before', True: 'inside', False: 'outside'}[s]] += 1
            if s is False:
                out_kinds[ev] += 1
with open(f'{d}/check.txt', 'w') as o:
    for (f, c), n in sorted(seen.items()):
        k = n['inside'] + n['outside']
        print(f"{f} (guest '{files[f][0]}') CPU {c} = tid {files[f][1].get(c)}: inside {n['inside']}, outside {n['outside']}, "
              f"before the first entry {n['before']}: {100*n['inside']/k if k else 0:.3f}% inside", file=o)
    print('outside, by event:', dict(out_kinds.most_common(8)), file=o)
sys.stdout.write(open(f'{d}/check.txt').read())
