# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the strip over a graph, as it was photographed, with the model.

virt_lib.py MODEL.csv pcpu|vcpu|combo NUMBER FROM_NS TO_NS HEIGHT PIXELS

PIXELS are the colours, #rrggbb, of the strip and some columns to its left and right, row by row
from the top, HEIGHT rows. Each column must show every state with its share of the column's time, up
to one pixel; states from the bottom up in the order of COLOURS. Prints what has been compared.
"""
import sys

# virt/model/virt_colors.c, written down a second time on purpose
COLOURS = {
    "guest": "#009e73", "hypervisor": "#e69f00", "polling": "#bbffbb", "vmm": "#d55e00",
    "preempted": "#b879b1", "waking": "#f0e442", "blocked": "#e4e6ea", "device_model": "#7094fc",
    "offline": "#a0a4a8",
}
# in combos, by what the exits are about
EXITS = {
    "#22ddbb", "#4466bb", "#991100", "#bb2288", "#ff99ff", "#1100dd", "#6600aa", "#335555", "#bb22ff",
}
BLANK = {"#ffffff", "#8c8c8c"}  # nothing, and the two colours of unknown
MARGIN = 4


def intervals(path, kind, number):
    mine = "%s,%s," % (kind, number)
    with open(path) as file:
        if next(file) != "kind,number,from,to,state\n":
            sys.exit("%s: these are not the columns of a model" % path)
        rows = [line.split(",") for line in file if line.startswith(mine)]
    return [(int(start), int(end), state.rstrip()) for _, _, start, end, state in rows]


def shares(spans, start, end, n):
    """For each of n columns, the share of each state of the time that the trace covers."""
    step = (end - start) // n
    columns = [{} for _ in range(n)]
    for begin, stop, state in spans:
        begin, stop = max(begin, start), min(stop, end)
        i = (begin - start) // step
        while begin < stop and i < n:
            until = min(stop, start + (i + 1) * step)
            columns[i][state] = columns[i].get(state, 0) + until - begin
            begin, i = until, i + 1
    for column in columns:
        total = sum(column.values())
        for state in column:
            column[state] /= total
    return columns


def wrong_with(column, wanted, height):
    """column: colours from the bottom up."""
    order = [colour for colour in COLOURS.values() if colour in column]
    seen = [colour for i, colour in enumerate(column) if i == 0 or column[i - 1] != colour]
    if [colour for colour in seen if colour not in BLANK] != order:
        return "order %s" % seen
    for state, colour in COLOURS.items():
        share = wanted.get(state, 0) * height
        if abs(column.count(colour) - share) > 1.001:
            return "%s: %d pixels for %.2f" % (state, column.count(colour), share)
    blank = sum(colour in BLANK for colour in column)
    if blank + sum(column.count(colour) for colour in COLOURS.values()) != height:
        return "colours %s" % set(column)
    return None


def main():
    path, kind, number = sys.argv[1:4]
    start, end, height = map(int, sys.argv[4:7])
    with open(sys.argv[7]) as file:
        pixels = file.read().split()
    if kind == "combo":
        kind = "vcpu"
        pixels = [COLOURS["hypervisor"] if colour in EXITS else colour for colour in pixels]
    width = len(pixels) // height
    columns = [[pixels[(height - 1 - y) * width + x] for y in range(height)]
               for x in range(width)]
    # The screenshot shows the first column only up to some pixels, the window their number. When
    # labels become wider or a scroll bar appears, KernelShark keeps the number of columns; then the
    # last ones are not seen.
    best = None
    spans = intervals(path, kind, number)
    for n in range(width - 2 * MARGIN - 40, width + 20):
        if (end - start) % n:
            continue
        wanted = shares(spans, start, end, n)
        # where it mostly is, first
        for left in sorted(range(0, 2 * MARGIN), key=lambda left: abs(left - MARGIN - 1)):
            # Beyond both ends nothing may be drawn.
            outside = {colour for x in list(range(left)) + list(range(left + n, width))
                       for colour in columns[x]} & set(COLOURS.values())
            bad = []
            least = len(best[0]) + len(best[1]) if best else width
            for x in range(min(n, width - left)):
                if len(bad) + len(outside) >= least:
                    break
                text = wrong_with(columns[left + x], wanted[x], height)
                if text:
                    bad.append((x, text))
            if best is None or len(bad) + len(outside) < least:
                best = bad, outside, n, left, wanted
            if not best[0] and not best[1]:
                break
        if not best[0] and not best[1]:
            break
    if best is None:
        print("the window is no whole number of columns")
        return 1
    bad, outside, n, left, wanted = best
    states = sorted({state for column in wanted for state in column})
    mixed = sum(len(column) > 1 for column in wanted)
    print("%s %s: %d columns from %d ns on, %d of them mixed, %d wrong; first at %d; states %s"
          % (kind, number, n, start, mixed, len(bad), left, " ".join(states)))
    for x, text in bad[:10]:
        print("  column %d: %s, wanted %s" % (x, text, wanted[x]))
    if outside:
        print("  drawn outside: %s" % outside)
    return bool(bad or outside)


sys.exit(main())
