#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Are the arguments of VM exits in diff --exits the difference of two pages of report --exits?

diff_arguments.py BEFORE.json AFTER.json BEFORE-EXITS.json AFTER-EXITS.json DIFF.csv DIFF.json same|other

The first two are of report, the next two of report --exits, the last two of diff --exits --above 0. "same": two
windows of one trace; "other": two traces. Prints how many arguments were compared.
"""
import csv
import json
import math
import sys
from fractions import Fraction

SECOND = 10 ** 9
# no record shows these
UNNAMED = "not recorded", "unknown"


def known_of(report):
    return {vcpu["vcpu"]: vcpu["known_ns"] for machine in report["machines"] for vcpu in machine["vcpus"]}


def arguments_of(page):
    """By vCPU and reason: None if it has none, else {(argument, cause): [count, ns]}; all kept names by reason."""
    found, kept = {}, {}
    for vcpu in page["vcpus"]:
        for exit in vcpu["exits"]:
            parts = exit.get("arguments")
            if vcpu["vcpu"] == "all":
                kept.setdefault(exit["reason"], set()).update(
                    (part["argument"], part.get("cause") or None) for part in parts or [])
                continue
            found[vcpu["vcpu"], exit["reason"]] = None if parts is None else {
                (part["argument"], part.get("cause") or None):
                    [part["count"], part["cost"]["total_ns"] if part["cost"] else 0] for part in parts}
    return found, kept


def merge(parts, rename):
    merged = {}
    for key, (count, ns) in parts.items():
        row = merged.setdefault(rename(key), [0, 0])
        row[0] += count
        row[1] += ns
    return merged


def both(sides, kept, reason, who):
    """The arguments of both sides with names that both can have; None: they have none in common."""
    parts = [side.get((who, reason)) for side in sides]
    if all(part is None for part in parts):
        return None
    all_names = [keep.get(reason, set()) for keep in kept]
    unknown = [any(name == "unknown" for name, _ in names) for names in all_names]
    parts = [part or {} for part in parts]
    causes = [any(cause for _, cause in names) for names in all_names]
    if any(unknown) or (all(all_names) and causes[0] != causes[1]):
        sys.exit("%s: such traces are compared by the test itself" % reason)
    folded = []
    for here, there in (0, 1), (1, 0):
        def rename(key):
            name, cause = key
            if name in UNNAMED or ("others", cause) not in parts[there] or key in all_names[there]:
                return key
            return "others", cause
        folded.append(merge(parts[here], rename))
    return folded


def ns_per_s(ns, known):
    return math.floor(Fraction(ns * SECOND, known) + Fraction(1, 2)) if known else 0


def main():
    reports, pages = ([json.load(open(sys.argv[i])) for i in at] for at in ((1, 2), (3, 4)))
    rows = list(csv.DictReader(open(sys.argv[5], newline="")))
    items = json.load(open(sys.argv[6]))["differences"]
    known = [known_of(report) for report in reports]
    sides, kept = zip(*(arguments_of(page) for page in pages))
    if sys.argv[7] == "same":
        # what one window names, the other one can name as well: nothing is among the others of one alone
        kept = tuple({reason: kept[0].get(reason, set()) | kept[1].get(reason, set())
                      for reason in set(kept[0]) | set(kept[1])} for _ in kept)
    compared = 0
    for item in items:
        if item["kind"] != "exits":
            assert "arguments" not in item, item
            continue
        who, reason = item["name"], item["what"]
        expected = both(sides, kept, reason, who)
        parts = item.get("arguments")
        assert (parts is None) == (expected is None), (who, reason)
        lines = {(row["argument"], row["cause"] or None): row for row in rows
                 if row["name"] == who and row["what"] == reason and row["argument"]}
        if parts is None:
            assert not lines, (who, reason)
            continue
        keys = set(expected[0]) | set(expected[1])
        assert {(p["argument"], p.get("cause")) for p in parts} == keys == set(lines), (who, reason, keys, parts)
        assert len(parts) == len(keys)
        for part in parts:
            key = part["argument"], part.get("cause")
            for i, side in enumerate(("before", "after")):
                count, ns = expected[i].get(key, (0, 0))
                per_s = count * SECOND / known[i][who]
                assert part[side + "_count"] == count == int(lines[key][side + "_count"]), (key, part)
                assert part[side + "_ns_per_s"] == ns_per_s(ns, known[i][who]) == \
                    int(lines[key][side + "_ns_per_s"]), (key, part)
                assert abs(part[side + "_per_s"] - per_s) < 1e-6 and \
                    abs(float(lines[key][side + "_per_s"]) - per_s) < 1e-3, (key, part)
            compared += 1
        for side in "before", "after":
            assert sum(part[side + "_count"] for part in parts) == item[side + "_count"], (who, reason)
            assert abs(sum(part[side + "_ns_per_s"] for part in parts) - item[side + "_ns_per_s"]) <= len(parts)
    print(compared)


main()
