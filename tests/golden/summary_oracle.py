#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check a summary of "kshark-virt report" against the JSON of the same report.

Usage: summary_oracle.py SUMMARY REPORT.json WORST.json WIDTH LINES

WORST.json has all moments of "--worst N --kind exit,steal,wake". Each row of the summary must be that of
its vCPU, in the order of steal, without a blank at its end. The moments must be the worst three of which no two
of one vCPU overlap; of an exit and a wait that makes up half of its cost, it must be the wait.
"""
import json
import re
import sys

from durations import duration

summary, report, worst, width, lines = sys.argv[1:]
text = open(summary).read().split("\n")
report = json.load(open(report))
worst = json.load(open(worst))
width, lines = int(width), int(lines)
errors = 0
TITLES = ["vCPU", "guest", "hyp", "steal", "wait p99", "blocked", "exits/s", "migr", "culprit"]
SHARES = (("guest", "guest"), ("hypervisor", "hyp"), ("preempted", "steal"), ("blocked", "blocked"))


def expect(what, got, wanted):
    global errors
    if got != wanted:
        errors += 1
        print("  %s: %r instead of %r" % (what, got, wanted))


def cut(name, room):
    return name if len(name) <= room else name[:room - 3] + "..."


def base_of(vcpu):
    known = [s["total_ns"] or 0 for name, s in vcpu["states"].items() if s and name != "unknown"]
    return sum(known) + vcpu.get("unsplit_ns", {}).get("unknown", 0)


def ns_of(vcpu, state):
    return (vcpu["states"][state] or {}).get("total_ns")


def wanted_row(vcpu):
    base = base_of(vcpu)
    row = {}
    for state, title in SHARES:
        value = ns_of(vcpu, state)
        row[title] = "-" if value is None else "" if not base else "%.1f %%" % (100 * value / base)
    waits = vcpu["runnable"]
    row["wait p99"] = duration(waits["p99_ns"]) if waits and waits.get("p99_ns") is not None else "-"
    exits = vcpu["exits"]
    if exits is None:
        row["exits/s"] = "-"
    else:
        count = sum(e["count"] for e in exits)
        rate = 1e9 * count / vcpu["known_ns"] if vcpu["known_ns"] else None
        row["exits/s"] = "" if rate is None else "%.*f" % (bool(count) and rate < 10, rate)
    row["migr"] = "-" if vcpu["migrations"] is None else "%d" % vcpu["migrations"]
    culprits = vcpu["culprits"]
    row["culprit"] = culprits[0]["who"] if culprits else "" if ns_of(vcpu, "preempted") == 0 else "-"
    return row


def steal(vcpu):
    taken = ns_of(vcpu, "preempted")
    p99 = (vcpu["runnable"] or {}).get("p99_ns")
    return (taken / base_of(vcpu) if taken else -1 if taken is None else 0, -1 if p99 is None else p99)


expect("lines", len(text) - 1 <= lines, True)
for line in text:
    expect("blanks at the end of %r" % line, line, line.rstrip())
    if "kshark-virt" not in line or "#" in line:
        expect("width of %r" % line, len(line) <= width, True)

# --- rows
at = next(i for i, line in enumerate(text) if re.match(r"  vCPU +guest", line))
places, position = [], 0
for title in TITLES:
    position = text[at].index(title, position)
    places.append(position)
ends = [re.compile(r"\S+( p99)?").match(text[at], place).end() for place in places]
vcpus = [v for m in report["machines"] for v in m["vcpus"]]
names = {}
for vcpu in vcpus:
    names.setdefault(vcpu["vcpu"], vcpu)
vcpus.sort(key=lambda v: [-x for x in steal(v)])
row_lines = []
for line in text[at + 1:]:
    if not line or line.startswith("  ... "):
        break
    row_lines.append(line)
left_out = re.match(r"  \.\.\. (\d+) more, sorted", text[at + 1 + len(row_lines)])
expect("rows", len(row_lines) + (int(left_out[1]) if left_out else 0), len(vcpus))
expect("some rows", len(row_lines) >= min(3, len(vcpus)), True)
room = width - places[-1]
for line, vcpu in zip(row_lines, vcpus):
    name_end = ends[1] - 8
    fields = {"vCPU": line[2:name_end].strip()}
    for i in range(1, len(TITLES) - 1):
        fields[TITLES[i]] = line[ends[i - 1] if i > 1 else name_end:ends[i]].strip()
    fields["culprit"] = line[places[-1]:].strip()
    wanted = wanted_row(vcpu)
    expect("order", fields["vCPU"], cut(vcpu["vcpu"], name_end - 3))
    wanted["culprit"] = cut(wanted["culprit"], room)
    for title, value in wanted.items():
        expect("%s of %s" % (title, vcpu["vcpu"]), fields[title], value)

# --- moments
at = text.index("The worst moments:")
found = []
for line in text[at + 1:]:
    if not line:
        break
    match = re.match(r" +(\d+\.\d{6}) s  (.*)", line)
    if match:
        found.append([match[1], match[2]])
    elif found:
        found[-1][1] += " " + line.strip()


def overlap(a, b):
    return a["vcpu"] == b["vcpu"] and a["start_ns"] < b["end_ns"] and b["start_ns"] < a["end_ns"]


incidents = []
for moment in worst["worst"]:
    before = next((i for i in incidents if overlap(i["first"], moment)), None)
    if not before and len(incidents) < 3:
        incidents.append({"first": moment, "shown": moment})
    elif before and before["shown"]["kind"] == "exit" and moment["kind"] != "exit" and \
            2 * moment["cost_ns"] >= before["shown"]["cost_ns"]:
        before["shown"] = moment
shown = sorted((i["shown"] for i in incidents), key=lambda m: (-m["cost_ns"], m["time_ns"]))
expect("moments", len(found), len(shown))
for (time, words), moment in zip(found, shown):
    expect("time", time, "%.6f" % (moment["time_ns"] / 1e9))
    expect("vCPU", words.startswith(moment["vcpu"] + " "), True)
    what = {"steal": "preempted", "wake": "woken", "exit": "left its guest"}[moment["kind"]]
    expect("kind", what in words, True)
    expect("cost in %r" % words, " %s" % duration(moment["cost_ns"]) in words, True)
    if moment["kind"] == "steal" and moment["pcpu"] is None:
        # a culprit has the pCPU that the vCPU waits for
        expect("culprit in %r" % words, " had it" in words, False)
    elif moment["kind"] == "steal":
        expect("culprit in %r" % words, moment["who"] in words or moment["who_ns"] == 0, True)
sys.exit(1 if errors else 0)
