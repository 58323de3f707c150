#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""plot_svg.py SVG DUMP.csv vcpu|pcpu: does the figure show what the records say?

The totals of each row are computed again from the output of "kshark-virt dump --format csv", and
measured in the figure as what is visible of each colour. The figure must show the span of the dump.
"""
import csv
import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict

SVG = "{http://www.w3.org/2000/svg}"
COLORS = {"guest": "#009e73", "hypervisor": "#e69f00", "polling": "#bbffbb", "vmm": "#d55e00",
          "preempted": "#b879b1", "waking": "#f0e442", "blocked": "#e4e6ea", "device_model": "#7094fc",
          "offline": "#a0a4a8"}
TITLES = {"guest": "Guest", "hypervisor": "Hypervisor", "preempted": "Preempted",
          "waking": "Waking", "blocked": "Blocked", "device_model": "Device model", "offline": "Offline", "unknown": "Unknown"}
# Of the width: coordinates are rounded to hundredths, and there may be thousands of edges.
TOLERANCE = 0.0002
IDLE = "32767"

bad = 0


def complain(text):
    global bad
    bad += 1
    print(text)


# --- from the records ------------------------------------------------------------------------

class Vcpu:
    def __init__(self, has_exits):
        self.state, self.pcpu, self.last_pcpu, self.since = "unknown", None, None, None
        self.has_exits = has_exits
        self.ns = defaultdict(int)


def recompute(path):
    """Totals of vCPUs and pCPUs, migrations, the span, and when each pCPU is first known."""
    with open(path, newline="") as file:
        records = [(int(r["time_ns"]), r["pcpu"], "d%sv%s" % (r["domid"], r["vcpu"]), r["event"],
                    r["info"]) for r in csv.DictReader(file)]
    # the model's end is just behind the last record
    begin, end = records[0][0], records[-1][0] + 1
    with_exits = {vcpu.split("v")[0] for _, _, vcpu, event, _ in records if event == "vmentry"}
    vcpus, pcpus, migrations = {}, defaultdict(lambda: defaultdict(int)), []

    def change(vcpu, time, state):
        if vcpu.since is not None:
            vcpu.ns[vcpu.state] += time - vcpu.since
            if vcpu.pcpu is not None:
                pcpus[vcpu.pcpu][vcpu.name] += time - vcpu.since
        vcpu.state, vcpu.since = state, time

    for time, pcpu, current, event, info in records:
        # who runs from the beginning on has no record of it, but is named as the one who runs
        if current != "dv" and current not in vcpus:
            vcpu = vcpus[current] = Vcpu(current.split("v")[0] in with_exits)
            vcpu.name, vcpu.pcpu, vcpu.last_pcpu = current, pcpu, pcpu
            change(vcpu, time, "unknown" if vcpu.has_exits else "guest")
        match = re.match(r"vcpu=(d\d+v\d+) old=(\w+) new=(\w+)", info)
        if match and re.match(r"\w+_to_\w+", event):
            name, old, new = match.groups()
            vcpu = vcpus.setdefault(name, Vcpu(name.split("v")[0] in with_exits))
            vcpu.name = name
            state = new
            if new == "running":
                state = "hypervisor" if vcpu.has_exits else "guest"
            elif new == "runnable":
                state = "preempted" if old == "running" else "waking"
            change(vcpu, time, state)
            vcpu.pcpu = pcpu if new == "running" else None
            if new == "running":
                if vcpu.last_pcpu not in (None, pcpu):
                    migrations.append((name, vcpu.last_pcpu + "\u2192" + pcpu))
                vcpu.last_pcpu = pcpu
        elif event in ("vmentry", "vmexit", "vmexit64") and current in vcpus:
            vcpu = vcpus[current]
            if vcpu.pcpu == pcpu:
                change(vcpu, time, "guest" if event == "vmentry" else "hypervisor")
    for vcpu in vcpus.values():
        change(vcpu, end, "end")
    firsts = {}
    for time, pcpu, current, _, _ in records:
        if current != "dv":
            firsts.setdefault(pcpu, time)
    return vcpus, pcpus, migrations, begin, end, firsts


# --- from the figure -------------------------------------------------------------------------

def skyline(path):
    """(x0, x1, height) of all bars of a path, and its base line."""
    bars, base = [], None
    for part in re.findall(r"M([^Mz]*)z", path):
        words = re.findall(r"[hv]|-?[0-9.]+", part)
        x, y = float(words[0]), float(words[1])
        base = y if base is None else base
        if abs(y - base) > 0.001:
            complain("a bar begins beside the base line: " + part)
        for command, value in zip(words[2::2], words[3::2]):
            if command == "v":
                y += float(value)
            else:
                bars.append((x, x + float(value), base - y))
                x += float(value)
        if abs(y - base) > 0.02:
            complain("a bar does not end on the base line: " + part)
    return bars, base


def visible(layers):
    """Area of each layer that no later one covers; all stand on the same line."""
    edges = sorted({round(x, 2) for _, bars in layers for bar in bars for x in bar[:2]})
    index = {x: i for i, x in enumerate(edges)}
    heights = [[] for _ in edges]
    for name, bars in layers:
        for x0, x1, height in bars:
            for i in range(index[round(x0, 2)], index[round(x1, 2)]):
                heights[i].append((name, height))
    area = defaultdict(float)
    for i, stack in enumerate(heights[:-1]):
        covered = 0
        for name, height in reversed(stack):
            if height > covered:
                area[name] += (height - covered) * (edges[i + 1] - edges[i])
                covered = height
    return area


def measure_row(name, group, colors):
    """Share of the width that each kind has, and the kinds."""
    layers, height, width = [], 0, 0
    for path in group.findall(SVG + "path"):
        kind, fill = path.get("class"), path.get("fill")
        if kind == "base":
            width = float(re.match(r"M\S+ \S+h(\S+)$", path.get("d")).group(1))
            continue
        bars, _ = skyline(path.get("d"))
        layers.append((kind, bars))
        height = max([height] + [bar[2] for bar in bars])
        if fill != COLORS.get(kind, fill):
            complain("%s: %s is %s" % (name, kind, fill))
        if kind != "unknown" and colors.setdefault(kind, fill) != fill:
            complain("%s has two colours" % kind)
    if len({kind for kind, _ in layers}) != len(layers):
        complain("%s: more than one path of a kind" % name)
    return {kind: area / height / width for kind, area in visible(layers).items()}


def main(svg, dump, by):
    root = ET.parse(svg).getroot()
    vcpus, pcpus, migrations, begin, end, firsts = recompute(dump)
    real = {name: vcpu for name, vcpu in vcpus.items() if not name.startswith("d%sv" % IDLE)}
    rows = {g.get("data-name"): g for g in root.iter(SVG + "g") if g.get("class") == "row"}
    names = {"pCPU %d" % i for i in range(max(map(int, pcpus)) + 1)} if by == "pcpu" else set(real)
    if set(rows) != names:
        complain("rows %s instead of %s" % (sorted(rows), sorted(names)))
    labels = {t.text for t in root.iter(SVG + "text") if t.get("class") == "name"}
    if labels != names:
        complain("names %s instead of %s" % (sorted(labels), sorted(names)))

    seen, colors = set(), {}
    for name, group in rows.items():
        shares = measure_row(name, group, colors)
        seen |= set(shares)
        wanted = real[name].ns if by == "vcpu" else {
            vcpu: ns for vcpu, ns in pcpus[name.split()[1]].items() if vcpu in real}
        known = sum(wanted.values()) if by == "vcpu" else end - firsts[name.split()[1]]
        worst = 0
        for kind in set(shares) | set(wanted):
            if kind == "unknown":
                continue
            shown = shares.get(kind, 0)
            recorded = wanted.get(kind, 0) / (end - begin)
            # before that the figure may know more than this script does
            slack = TOLERANCE + (end - begin - known) / (end - begin)
            worst = max(worst, abs(shown - recorded))
            if abs(shown - recorded) > slack:
                complain("%s: %s is %.4f %% of the figure, %.4f %% of the records" %
                         (name, kind, 100 * shown, 100 * recorded))
        print("%s: %d kinds, worst difference %.4f %%" % (name, len(wanted), 100 * worst))

    entries = {t.text for t in root.iter(SVG + "text") if t.get("class") == "entry"}
    wanted = {TITLES[kind] for kind in seen} if by == "vcpu" else \
        {{"unknown": "Unknown"}.get(kind, kind) for kind in seen}
    if not wanted <= entries:
        complain("not in the legend: %s" % sorted(wanted - entries))
    arrows = [t.text for t in root.iter(SVG + "text")
              if t.get("class") == "migration" and "\u2192" in t.text]
    if by == "vcpu" and len(migrations) <= 8 and sorted(arrows) != sorted(m for _, m in migrations):
        complain("migrations %s instead of %s" % (arrows, migrations))
    marks = sum(p.get("class") == "migration" for p in root.iter(SVG + "path"))
    if bool(marks) != bool(migrations):
        complain("%d marks of %d migrations" % (marks, len(migrations)))
    print("%d rows, %d migrations, %d marks, %d kinds" %
          (len(rows), len(migrations), marks, len(seen)))


main(*sys.argv[1:])
sys.exit(bad > 0)
