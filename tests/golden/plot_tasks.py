# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does plot --tasks have the numbers of report for the same span?

    plot_tasks.py TASKS.csv REPORT.json [FIGURE.svg]

What was executed of each task on each pCPU, and how long each vCPU was on which pCPU; stretches do not overlap.
In the figure, all that has bars has its name in the legend, and what is legend has bars.
"""
import collections
import csv
import json
import sys
import xml.etree.ElementTree

rows = list(csv.DictReader(open(sys.argv[1])))
report = json.load(open(sys.argv[2]))
executed, there, last = collections.Counter(), collections.Counter(), {}
for row in rows:
    pcpu, begin, end = int(row["pcpu"]), int(row["from_ns"]), int(row["to_ns"])
    assert begin < end and 0 <= int(row["executed_ns"]) <= end - begin, row
    assert last.get(pcpu, begin) <= begin, row
    assert (row["pid"] == "") == (row["task"] == ""), row
    last[pcpu] = end
    there[row["vcpu"], pcpu] += end - begin
    if row["task"]:
        executed[row["task"], pcpu] += int(row["executed_ns"])
wanted = collections.Counter()
for task in (t for g in report["guests"] for t in g["tasks"]):
    for place in task["pcpus"]:
        wanted[task["name"], place["pcpu"]] += place["executed_ns"]
assert +executed == +wanted, (executed - wanted, wanted - executed)
of_report = collections.Counter()
for vcpu in (v for m in report["machines"] for v in m["vcpus"]):
    of_report.update({(vcpu["vcpu"], int(p)): ns for p, ns in vcpu["pcpus_ns"].items()})
assert +there == +of_report, (there - of_report, of_report - there)
if len(sys.argv) > 3:
    svg = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(sys.argv[3]).getroot()
    texts = [t.text for g in root.iter(svg + "g") if g.get("class") == "legend" for t in g.iter(svg + "text")]
    known = collections.Counter()
    for (task, _), ns in executed.items():
        known[task] += ns
    named = {t.partition(": ")[2] for t in texts if ": " in t and not t.endswith(": other tasks")}
    assert named and named <= set(known), (named, known)
    assert len(named) == min(10, len(known)), (named, known)
    least = min(known[t] for t in named)
    assert all(ns <= least for t, ns in known.items() if t not in named), (named, known)
    assert any(t.endswith(": other tasks") for t in texts) == (len(known) > 10), texts
    unknown = {row["vcpu"] for row in rows if not row["task"]}
    vcpus = {v["vcpu"] for m in report["machines"] for v in m["vcpus"]}
    assert {t.partition(",")[0] for t in texts} & vcpus == unknown, (texts, unknown)
    traced = {c.get("vcpu") for g in report["guests"] for c in g["cpus"]}
    assert all(t.endswith(", task not known") for t in texts if t.partition(",")[0] in traced), texts
print(len(rows))
