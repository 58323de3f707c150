# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrows of wake-ups between graphs, as they were photographed, against the tables of "export".

wakeups.py TABLES FROM_NS TO_NS X0 X1 HEIGHT GRAPH...        prints the arrows that cross the gap below each
                                                            graph: its number, "x,waker,woken,time,run" each
wakeups.py check TABLES FROM_NS TO_NS X0 X1 HEIGHT GRAPH...  reads "GAP X" of coloured pixels, compares

GRAPH is "pcpu:0", "vcpu:d0v1" ..., from the top down. HEIGHT is that of a graph; X0 and X1 are the columns
of the window's ends.
"""
import csv
import sys

GAP = 20        # between two graphs
STRIP = 8       # of it, above a graph
HEAD = 8        # length of an arrow's
ROW = 3         # below a graph's base line: where it is looked at, above all heads
NEAR = 4        # columns: a screenshot shows those of the ends of a window only up to some pixels


def table(folder, name):
    with open("%s/%s.csv" % (folder, name), newline="") as file:
        return list(csv.DictReader(file))


def wakeups(folder):
    """Wake-ups: waker, woken vCPU, time and pCPU; when and where the woken one ran."""
    names = {row["id"]: row["name"] for row in table(folder, "vcpu")}
    on_pcpu = [row for row in table(folder, "interval")
               if row["state"] in ("guest", "hypervisor", "polling", "vmm")]
    for row in table(folder, "wake"):
        if not row["who"]:
            continue
        time = int(row["time_ns"])
        place = [one["pcpu"] for one in on_pcpu if one["vcpu"] == row["who"] and
                 int(one["start_ns"]) <= time < int(one["end_ns"])]
        run = time + int(row["latency_ns"]) if row["latency_ns"] else None
        ran = [one for one in on_pcpu if one["vcpu"] == row["vcpu"] and int(one["start_ns"]) == run]
        yield (names[row["who"]], names[row["vcpu"]], time, place[0] if place else None,
               run if ran else None, ran[0]["pcpu"] if ran else None)


def arrows(folder, start, end, x0, x1, height, graphs):
    """Of each: waker, woken, times, and the columns in which it crosses the gaps below graphs."""
    def column(ns):
        return x0 + (ns - start) * (x1 - x0) // (end - start)

    def base(i):
        return i * (height + GAP)

    def strip(i):
        bottom = height * 7 // 10 + 2 if graphs[i].startswith("pcpu") else height // 2
        return base(i) - height - STRIP, base(i) - bottom

    def graph(vcpu, pcpu):
        for name in ("vcpu:%s" % vcpu, "pcpu:%s" % pcpu):
            if name in graphs:
                return graphs.index(name)
        return None

    for waker, woken, time, waker_pcpu, run, run_pcpu in wakeups(folder):
        if not start <= time < end:
            continue
        source = graph(waker, waker_pcpu)
        target = graph(woken, run_pcpu if run is not None and run < end else None)
        if source is None or target is None or source == target:
            continue
        left = column(time)
        right = left if graphs[target].startswith("vcpu") else column(run)
        if source < target:
            top, bottom = strip(source)[1], strip(target)[0] - HEAD
            gaps = range(source, target)
        else:
            top, bottom = strip(source)[0], strip(target)[1] + HEAD
            gaps = range(target, source)
        # a slanted one leads through several columns in the rows beside
        slope = (right - left) / (bottom - top)
        yield waker, woken, time, run, {
            gap: (left + slope * (base(gap) + ROW - top), abs(slope)) for gap in gaps}


def main():
    check = sys.argv[1] == "check"
    folder, start, end, x0, x1, height, *graphs = sys.argv[1 + check:]
    wanted = list(arrows(folder, int(start), int(end), int(x0), int(x1), int(height), graphs))
    if not check:
        for waker, woken, time, run, gaps in wanted:
            for gap, (x, _) in gaps.items():
                print(gap, "%d,%s,%s,%s,%s" % (x, waker, woken, time, run))
        return
    seen = {tuple(map(int, line.split())) for line in sys.stdin}
    crossed = [(gap, *x) for *_, gaps in wanted for gap, x in gaps.items()]
    lost = [(gap, x) for gap, x, slope in crossed
            if not any(gap == one[0] and abs(x - one[1]) <= NEAR + slope for one in seen)]
    odd = [(gap, x) for gap, x in seen
           if not any(gap == one[0] and abs(x - one[1]) <= NEAR + one[2] for one in crossed)]
    print("%d arrows cross %d gaps; %d crossings are not seen, %d columns are not theirs"
          % (len(wanted), len(crossed), len(lost), len(odd)))
    if lost or odd:
        sys.exit("not seen: %s, nobody's: %s" % (lost[:10], sorted(odd)[:10]))


main()
