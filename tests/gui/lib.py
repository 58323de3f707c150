# SPDX-License-Identifier: LGPL-2.1-or-later
"""What KernelShark must show of a xentrace file, worked out from kshark-virt dump --format csv.

lib.py rows CSV CONDITION            the rows of the event list
lib.py graph CSV cpu|task ID FROM TO PIXELS [PID=COLOUR...]
                                     compare a graph's row of pixels with who ran
"""
import marshal
import operator
import os
import sys

IDLE_DOMAIN = 32767
BACKGROUND = "#ffffff"
BASE_LINE = "#000000"


def name(domid, vcpu):
    """pid and task."""
    if domid == "":
        return 1, "d?v?"
    if int(domid) == IDLE_DOMAIN:
        return 0, "idle"
    return (int(domid) + 1) * 10000 + int(vcpu), "d%sv%s" % (domid, vcpu)


def records(path):
    """(ns, pcpu, pid, task, event, info) of each record."""
    import csv  # takes longer than to compare a graph, which mostly needs no record

    names = {}
    with open(path, newline="") as file:
        lines = csv.reader(file)
        place = operator.itemgetter(*map(next(lines).index, (
            "time_ns", "pcpu", "domid", "vcpu", "event", "info")))
        for ns, pcpu, domid, vcpu, event, info in map(place, lines):
            if (domid, vcpu) not in names:
                names[domid, vcpu] = name(domid, vcpu)
            yield int(ns), int(pcpu), *names[domid, vcpu], event, info


def rows(path, condition):
    wanted = eval("lambda ns, pcpu, pid, task, event, info: " + condition)
    out = []
    for ns, pcpu, pid, task, event, info in records(path):
        if wanted(ns, pcpu, pid, task, event, info):
            # a double, as KernelShark makes of it
            out.append("%d\t%.6f\t%s\t%d\t%s\t%s\n"
                       % (pcpu, ns * 1e-9, task, pid, event, info))
    sys.stdout.write("".join(out))


def all_spans(path):
    """By pCPU: (from, to, pid) without gaps. Kept beside the CSV, which many graphs are compared with."""
    kept = path + ".spans"
    try:
        with open(kept, "rb") as file:
            return marshal.load(file)
    except FileNotFoundError:
        pass
    spans, last = {}, {}  # last: by pCPU: since when, who, seen last
    for ns, pcpu, pid, *_ in records(path):
        if pcpu not in last:
            last[pcpu] = [ns, pid, ns]
            spans[pcpu] = []
        elif last[pcpu][1] != pid:
            spans[pcpu].append((last[pcpu][0], ns, last[pcpu][1]))
            last[pcpu] = [ns, pid, ns]
        last[pcpu][2] = ns
    for pcpu, (since, pid, until) in last.items():
        spans[pcpu].append((since, until, pid))
    with open(kept + ".new", "wb") as file:
        marshal.dump(spans, file)
    os.rename(kept + ".new", kept)
    return spans


def spans_of(path, kind, number):
    """Who ran on a pCPU; or when a task did, pid, and what is between that, None."""
    spans = all_spans(path)
    if kind == "cpu":
        return spans.get(number, [])
    on = sorted(span for cpu in spans.values() for span in cpu if span[2] == number)
    both = []
    for begin, stop, pid in on:
        if both:
            both.append((both[-1][1], begin, None))
        both.append((begin, stop, pid))
    return both


def graph(path, kind, number, start, end, pixels, colours):
    """A box's ends may lie some pixels beside; everything that is wider has to be right."""
    line = open(pixels).read().split()
    scale = (len(line) - 1) / (end - start)
    tolerance = int(os.environ.get("GUI_TOLERANCE", "3"))
    wrong, checked = [], {True: 0, False: 0}
    for begin, stop, pid in spans_of(path, kind, number):
        left = max(3, round((begin - start) * scale) + tolerance)
        right = min(len(line) - 3, round((stop - start) * scale) - tolerance)
        runs = pid not in (None, 0)
        for x in range(left, right):
            colour = line[x]
            checked[runs] += 1
            if runs and colours and kind == "cpu":
                good = colour == colours[pid]
            elif runs:
                good = colour not in (BACKGROUND, BASE_LINE)
            else:
                good = colour in (BACKGROUND, BASE_LINE)
            if not good:
                wrong.append((x, colour, pid))
    print("%s %d: %d columns with a box, %d without, %d wrong"
          % (kind, number, checked[True], checked[False], len(wrong)))
    if wrong:
        print("wrong (column, colour, wanted):", wrong[:20], file=sys.stderr)
    least = int(os.environ.get("GUI_LEAST", len(line) // 20))
    if checked[True] + checked[False] < least:
        print("too few columns could be judged", file=sys.stderr)
        return False
    return not wrong


def main():
    what, path = sys.argv[1:3]
    if what == "rows":
        rows(path, sys.argv[3])
        return 0
    kind, number, start, end, pixels = sys.argv[3:8]
    colours = dict(word.split("=") for words in sys.argv[8:] for word in words.split())
    colours = {int(pid): colour for pid, colour in colours.items()}
    return not graph(path, kind, int(number), int(start), int(end), pixels, colours)


sys.exit(main())
