# SPDX-License-Identifier: LGPL-2.1-or-later
"""Markers of the worst moments: what a report says, and what a photograph shows.

virt_worst.py moments < REPORT.json   a line per moment, the worst first: time, where markers A and B
                                      belong, vCPU or -, pCPU, from when on it is to be seen, what a
                                      double click shows of it
virt_worst.py pins WIDTH < PIXELS     kind and column of each marker in the rows below a base line
virt_worst.py heads WIDTH < PIXELS    the same of a guest's graph, whose markers have no stems
"""
import json
import sys

# virt/model/virt_colors.c, written down a second time on purpose
COLOURS = {
    "#e69f00": "exit", "#b879b1": "steal", "#f0e442": "wake", "#0072b2": "migration",
    "#56b4e9": "irq", "#bbbbbb": "lost", "#a0a4a8": "offline", "#aa4499": "tsc",
}
LINE = "#202020"
SIZE, STEM = 9, 2
ASLEEP = ("blocked", "device_model", "offline")
LEAST = 12  # pixels of its colour in a marker


def duration(ns):
    for unit, name in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns >= unit:
            return "%.3f %s" % (ns / unit, name)
    return "%d ns" % ns


def parts(moment):
    """All states of a moment, first those that cost."""
    # states without time are not named
    states = {state: ns for state, ns in moment["states_ns"].items() if ns and not state.endswith("_includes")}
    named = lambda asleep: ", ".join("%s %s" % (state, duration(ns)) for state, ns in states.items()
                                     if (state in ASLEEP) == asleep)
    return named(False) + ("; not counted: " + named(True) if named(True) else "")


def text(moment):
    cost, vcpu, pcpu = duration(moment["cost_ns"]), moment.get("vcpu"), moment["pcpu"]
    kind = moment["kind"]
    if kind == "exit":
        argument = ": " + moment["argument"] if moment.get("argument") else ""
        return "%s VM exit %s%s on pCPU %d cost %s: " % (vcpu, moment["reason"], argument, pcpu, cost)
    if kind == "steal":
        waits = moment.get("parts", [])
        if len(waits) < 2:
            return "%s is preempted (last on pCPU %d) for %s by " % (vcpu, pcpu, cost)
        longest = max(waits, key=lambda part: part["to_ns"] - part["from_ns"])
        return ("%s is preempted (moved during the wait) for %s, for pCPU %d it waits %s by "
                % (vcpu, cost, longest["pcpu"], duration(longest["to_ns"] - longest["from_ns"])))
    if kind == "wake":
        text = ("%s waited %s after its wake-up, on a pCPU after %s (pCPU %d), guest code"
                " after %s" % (vcpu, cost, duration(moment["end_ns"] - moment["start_ns"]), pcpu,
                               duration(moment["entry_ns"] - moment["start_ns"])))
        return text + ("; pCPU %d was running %s for %s" % (pcpu, moment["who"], duration(moment["who_ns"]))
                       if moment.get("who") else "")
    if kind == "migration":
        return ("%s migrated from pCPU %d to pCPU %d, %s after it last ran; this cost %s: %s"
                % (vcpu, moment["from_pcpu"], pcpu,
                   duration(moment["end_ns"] - moment["start_ns"]), cost, parts(moment)))
    if kind == "irq":
        name = " " + moment["name"] if "name" in moment else ""
        return ("%s interrupt vector 0x%02x%s on pCPU %d, from injection to handler %s"
                % (vcpu, moment["vector"], name, pcpu, cost))
    if kind == "offline":
        return ("%s is offline (last on pCPU %d) for %s%s"
                % (vcpu, pcpu, cost, ", with its whole machine" if moment["whole_machine"] else
                   ", others of its machine are not"))
    if kind == "tsc":
        return ("%s has its TSC set by %+d cycles: from here on the host's plus 0x%x"
                % (vcpu, moment["tsc_jump"], int(moment["tsc_offset"], 16)))
    return "pCPU %d: %d records lost over %s" % (pcpu, moment["records"], cost)


def marked(moment):
    """Of a migration its cost, from the wait before the first run to the entry, without any sleep."""
    start, end = moment["start_ns"], moment["end_ns"]
    if moment["kind"] != "migration":
        return start, end
    states = moment["states_ns"]
    return start + sum(states.get(state) or 0 for state in ASLEEP), moment["entry_ns"]


def moments():
    for moment in json.load(sys.stdin)["worst"]:
        print(moment["time_ns"], *marked(moment), moment.get("vcpu") or "-", moment["pcpu"],
              moment["start_ns"], text(moment))


def head(pixels, width, x, y):
    """Kind of the marker whose head has its upper middle there; None if there is none."""
    half = SIZE // 2
    if x < half or x + half >= width:
        return None
    block = [pixels[(y + row) * width + x + i]
             for row in range(SIZE) for i in range(-half, half + 1)]
    for colour, kind in COLOURS.items():
        if block.count(colour) >= LEAST and block.count(LINE) >= LEAST:
            return kind
    return None


def pins(width):
    """A stem alone in its row, and a head below it."""
    pixels = sys.stdin.read().split()
    for x in range(1, width - 1):
        stem = [[pixels[y * width + x + i] == LINE for i in (-1, 0, 1)] for y in range(STEM)]
        if any(row != [False, True, False] for row in stem):
            continue
        kind = head(pixels, width, x, STEM)
        if kind:
            print(kind, x)


def heads(width):
    """The box of a steal has its whole upper edge in the first row, with nothing beside it."""
    pixels = sys.stdin.read().split()
    half = SIZE // 2
    for x in range(half + 1, width - half - 1):
        edge = [pixels[x + i] == LINE for i in range(-half - 1, half + 2)]
        if edge == [False] + SIZE * [True] + [False]:
            print(head(pixels, width, x, 0), x)


def main():
    if sys.argv[1] == "moments":
        moments()
    else:
        {"pins": pins, "heads": heads}[sys.argv[1]](int(sys.argv[2]))


main()
