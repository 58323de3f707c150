#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt plot --boot" against "report --boot": plot_boot.py FIGURE.svg NUMBERS.csv REPORT.json

Each stage of one machine has its place in its lane, its name if there is room, and a hatch if its end is
not known; the CSV has the same numbers.
"""
import csv
import json
import re
import sys
import xml.etree.ElementTree

LANES = {"phase": "phases", "shutdown": "phases", "level": "levels", "initcall": "initcalls",
         "device": "devices", "notifier": "devices"}
SVG = "{http://www.w3.org/2000/svg}"

figure = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
report = json.load(open(sys.argv[3]))
rows = list(csv.DictReader(open(sys.argv[2])))
boot = report["boot"][0]
begin, end = report["window_ns"]
lanes = {group.get("data-name"): group for group in figure.iter(SVG + "g") if group.get("class") == "lane"}
base = next(path for path in figure.iter(SVG + "path") if path.get("class") == "base")
left, width = [float(x) for x in re.match(r"M([\d.]+) [\d.]+h([\d.]+)$", base.get("d")).groups()]


def expect(what, got, wanted):
    if got != wanted:
        print("%s: %s, expected %s" % (what, got, wanted))
        sys.exit(1)


def box(group):
    """Left and right edge of a stage, and whether its end is known."""
    for item in group:
        if item.get("class") in ("fill", "no-end"):
            edges = re.match(r"M([\d.]+) [\d.]+v-[\d.]+h([\d.]+)v", item.get("d"))
            return float(edges[1]), float(edges[1]) + float(edges[2]), item.get("class") == "fill"
    return None


expect("rows", [(r["kind"], r["name"], r["vcpu"], int(r["from_ns"]), int(r["to_ns"]), r["end_known"],
                 int(r["true_ns"]), int(r["exits"]), int(r["exits_ns"])) for r in rows],
       [(s["kind"], s["name"], s["vcpu"], s["from_ns"], s["to_ns"], "%d" % s["end_known"],
         s["true_ns"], s["exits"], s["exits_ns"]) for s in boot["stages"]])
expect("lanes", list(lanes), ["g1 " + name for name in dict.fromkeys(LANES.values())
                              if any(LANES[s["kind"]] == name for s in boot["stages"])])
for name, lane in lanes.items():
    stages = [s for s in boot["stages"] if "g1 " + LANES[s["kind"]] == name]
    drawn = [group for group in lane if group.get("class") == "stage"]
    expect("names in " + name, [group.get("data-name") for group in drawn], [s["name"] for s in stages])
    for group, stage in zip(drawn, stages):
        x0, x1, known = box(group)
        expect("end of " + stage["name"], known, stage["end_known"])
        for x, time in ((x0, stage["from_ns"]), (x1, stage["to_ns"])):
            place = left + (time - begin) / (end - begin) * width
            expect("place of " + stage["name"], abs(x - place) < 0.8, True)
        texts = [text.text for text in group.iter(SVG + "text")]
        expect("text of " + stage["name"], texts in ([], [stage["name"]]), True)
        expect("text of wide " + stage["name"], x1 - x0 < 100 or len(texts) == 1, True)
print("%d stages in %d lanes" % (len(boot["stages"]), len(lanes)))
