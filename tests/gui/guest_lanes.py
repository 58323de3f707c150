# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the lanes over a guest's graph, in a screenshot, with what the guest reported.

guest_lanes.py CALLS.csv VCPU FROM_NS TO_NS WIDTH PIXELS [KIND]
guest_lanes.py busiest CALLS.csv

CALLS.csv is what "dump --hypertrace --format csv" writes; PIXELS are the colours, #rrggbb, of what is over
the boxes of the graph, and of some columns to its left and right, row by row. A column must show a
system call, or a softirq, if and only if there is one in its time: a softirq while the CPU is in it, a
system call while its task has the CPU. With KIND, sys or softirq, only that is looked at. Prints what has been compared.

busiest prints the vCPU and the middle of a system call of some length with as much as possible around it.
"""
import csv
import re
import sys

# virt/inside/virt_inside.c, written down a second time on purpose; where a piece begins, it is darker
COLOURS = {"sys": ("#332288", "#22165a"), "softirq": ("#cc6677", "#88444f")}
MARGIN = 4
FOREVER = 1 << 62


def field(info, name):
    match = re.search(r"\b%s=(-?\d+)" % name, info)
    return int(match[1]) if match else None


def pieces(path, vcpu):
    """What is there for sure, and what may be, by kind: [(from, to)]"""
    rows = [(int(r["time_ns"]), int(r["vcpu"]), r["event"], r["info"]) for r in csv.DictReader(open(path))]
    sure = {kind: [] for kind in COLOURS}
    maybe = {kind: [] for kind in COLOURS}
    runs, calls, open_irq = [], [], {}
    current, open_call, since = {}, {}, {}
    for time, cpu, event, info in rows:
        if event == "softirq_entry":
            open_irq[cpu] = time
        elif event == "softirq_exit" and cpu in open_irq:
            if cpu == vcpu:
                sure["softirq"].append((open_irq[cpu], time))
            del open_irq[cpu]
        elif event == "sched_switch":
            if cpu in current:
                runs.append((since[cpu], time, cpu, current[cpu]))
            current[cpu], since[cpu] = field(info, "pid"), time
        elif event == "sys_enter":
            if current.get(cpu) is None:
                maybe["sys"].append((time, FOREVER))
            else:
                open_call[current[cpu]] = time
        elif event == "sys_exit" and current.get(cpu) in open_call:
            calls.append((open_call.pop(current[cpu]), time, current[cpu]))
    for cpu, pid in current.items():
        runs.append((since[cpu], FOREVER, cpu, pid))
    maybe["softirq"] += [(time, FOREVER) for cpu, time in open_irq.items() if cpu == vcpu]
    for start, end, cpu, pid in runs:
        if cpu != vcpu:
            continue
        for begin, stop, task in calls:
            if task == pid and max(begin, start) < min(stop, end):
                sure["sys"].append((max(begin, start), min(stop, end)))
        if pid in open_call and open_call[pid] < end:
            maybe["sys"].append((max(open_call[pid], start), end))
    return sure, maybe


def columns_with(spans, start, step, n):
    found = set()
    for begin, end in spans:
        first, last = (begin - start) // step, (end - 1 - start) // step
        found.update(range(max(first, 0), min(last, n - 1) + 1))
    return found


def wrong(seen, sure, maybe, start, end, n, left, width):
    """Columns that show what they must not, or do not show what they must."""
    step = (end - start) // n
    bad = []
    for kind in seen:
        must = columns_with(sure[kind], start, step, n)
        may = must | columns_with(maybe[kind], start, step, n)
        shown = {x - left for x in seen[kind]}
        if any(x < 0 or x >= n for x in shown):
            bad.append((kind, "outside"))
        bad += [("no " + kind, x) for x in must - shown if x < width - left]
        bad += [(kind, x) for x in shown - may]
    return bad


def busiest(path):
    """(vCPU, time): in a window of 24 ms around it, the system call is 2 % of it or more."""
    spans = {vcpu: pieces(path, vcpu)[0] for vcpu in (0, 1)}
    starts = [a for kinds in spans.values() for some in kinds.values() for a, _ in some]
    calls = [(vcpu, (a + b) // 2) for vcpu, kinds in spans.items() for a, b in kinds["sys"]
             if 500000 <= b - a <= 12000000]
    return max(calls, key=lambda call: sum(abs(a - call[1]) < 12000000 for a in starts))


def main():
    if sys.argv[1] == "busiest":
        print(*busiest(sys.argv[2]))
        return 0
    path, vcpu, start, end, width = sys.argv[1], *map(int, sys.argv[2:6])
    pixels = open(sys.argv[6]).read().split()
    seen = {kind: {i % width for i, pixel in enumerate(pixels) if pixel in colours}
            for kind, colours in COLOURS.items() if kind in (sys.argv[7:] or COLOURS)}
    sure, maybe = pieces(path, vcpu)
    best = None
    # as in virt_lib.py: of the columns, the last ones may not be seen
    for n in range(width - 2 * MARGIN - 40, width + 20):
        if (end - start) % n:
            continue
        for left in range(2 * MARGIN):
            bad = wrong(seen, sure, maybe, start, end, n, left, width)
            if best is None or len(bad) < len(best[0]):
                best = bad, n, left
    if best is None:
        print("the window is no whole number of columns")
        return 1
    bad, n, left = best
    print("vCPU %d: %d columns from %d ns on, first at %d: %s; %d wrong" % (
        vcpu, n, start, left, ", ".join("%d of %s" % (len(seen[kind]), kind) for kind in seen), len(bad)))
    for kind, x in sorted(bad, key=str)[:10]:
        print("  %s in column %s" % (kind, x))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
