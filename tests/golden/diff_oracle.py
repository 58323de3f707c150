#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does diff print the difference of two reports?

diff_oracle.py BEFORE.json AFTER.json DIFF.csv DIFF.json by-id|by-name

Of diff --above 0 --most 1000000; machines are the same by number or by name. Prints how many numbers were compared.
"""
import csv
import json

import known
import math
import re
import sys
from fractions import Fraction

SECOND = 10 ** 9


def ns_per_s(ns, known):
    """Rounded, a half upwards."""
    return math.floor(Fraction(ns * SECOND, known) + Fraction(1, 2)) if known else 0


def per_s(count, known):
    return count * SECOND / known if known else 0


def vcpus(report, by_id):
    """Of several machines of one name, the first one is the first one again."""
    lives = {}
    for machine in sorted(report["machines"], key=lambda machine: machine["id"]):
        name = machine["id"] if by_id else re.sub(r"^d\d+:", "", machine["machine"])
        for vcpu in machine["vcpus"]:
            n = 0
            while (name, vcpu["id"], n) in lives:
                n += 1
            lives[name, vcpu["id"], n] = vcpu
    return lives


def values(vcpu, window):
    """By kind, name and culprit: ns a second, times a second, p99."""
    known, found = vcpu["known_ns"], {}
    for state, stretches in vcpu["states"].items():
        if state != "unknown":
            p99 = stretches.get("p99_ns") if state == "waking" else None
            found["state", state, ""] = (ns_per_s(stretches["total_ns"], known),
                                         per_s(stretches["count"], known), p99)
    for culprit in vcpu["culprits"]:
        key = "state", "preempted", culprit["who"]
        before = found.get(key, (0,))[0]
        found[key] = (before + ns_per_s(culprit["total_ns"], known), None, None)
    for exit in vcpu["exits"]:
        found["exits", exit["reason"], ""] = (ns_per_s(exit["total_ns"], known),
                                              per_s(exit["count"], known), None)
    found["migrations", "", ""] = None, per_s(vcpu["migrations"], known), None
    return found


def of_reports(sides):
    rows = {}
    for who in set(sides[0]) & set(sides[1]):
        lives = [side[who] for side in sides]
        if not all(life["known_ns"] for life in lives):
            continue
        numbers = [values(life, None) for life in lives]
        for key in set(numbers[0]) | set(numbers[1]):
            nothing = (None, 0, None) if key[0] == "migrations" else \
                (0, None, None) if key[2] else (0, 0, None)
            rows[(lives[1]["vcpu"],) + key] = numbers[0].get(key, nothing), numbers[1].get(key, nothing)
    return rows


def unquote(text):
    return re.sub(r"\\(?:x([0-9a-f]{2})|(.))",
                  lambda match: chr(int(match[1], 16)) if match[1] else match[2],
                  text[1:] if text.startswith("'") else text)


def of_csv(path):
    rows = {}
    for row in csv.DictReader(open(path, newline="")):
        key = unquote(row["name"]), row["kind"], unquote(row["what"]), unquote(row["by"])
        if key in rows:
            sys.exit("once more: %s" % (key,))
        rows[key] = tuple(
            tuple(kind(row[side + "_" + name]) if row[side + "_" + name] else None
                  for name, kind in (("ns_per_s", int), ("per_s", float), ("p99_ns", int)))
            for side in ("before", "after"))
    return rows


def of_json(printed):
    rows = {}
    for item in printed["differences"]:
        key = item["name"], item["kind"], item.get("what", "")
        rows[key + ("",)] = tuple(tuple(item.get(side + "_" + name) for name in
                                        ("ns_per_s", "per_s", "p99_ns"))
                                  for side in ("before", "after"))
        for by in item.get("by", []):
            rows[key + (by["who"],)] = tuple((by[side + "_ns_per_s"], None, None)
                                             for side in ("before", "after"))
    return rows


def close(left, right, places):
    return left == right or (left is not None and right is not None and
                             abs(left - right) <= 0.5000001 * 10 ** -places)


def same(what, left, right, places):
    for key in sorted(set(left) | set(right), key=repr):
        if key not in left or key not in right:
            sys.exit("%s: %s is only in %s" % (what, key, "the first" if key in left else
                                               "the second"))
        for before, after in zip(left[key], right[key]):
            if before[0] != after[0] or before[2] != after[2] or \
                    not close(before[1], after[1], places):
                sys.exit("%s: %s: %s, not %s" % (what, key, right[key], left[key]))


def weight(value):
    if value[0][0] is None:
        return abs(value[1][1] - value[0][1])
    return abs(value[1][0] - value[0][0])


def main():
    before, after, printed = (known.load(open(sys.argv[i])) for i in (1, 2, 4))
    sides = tuple(vcpus(report, sys.argv[5] == "by-id") for report in (before, after))
    expected, rows = of_reports(sides), of_csv(sys.argv[3])
    # equal values are left out, and who took a CPU goes with the state
    expected = {key: value for key, value in expected.items()
                if (weight(value) > 0 if not key[3] else
                    key[:3] + ("",) in rows)}
    # less than a millionth of a migration a second weighs nothing
    expected = {key: value for key, value in expected.items()
                if key[1] != "migrations" or weight(value) >= 1e-6}
    same("CSV", expected, rows, 3)
    same("JSON", expected, of_json(printed), 6)
    costs = [(item["kind"] != "state" or item["what"] not in ("guest", "blocked", "offline"))
             for item in printed["differences"]]
    if costs != sorted(costs, reverse=True):
        sys.exit("costs do not come first")
    for name, side in ("only_before", 0), ("only_after", 1):
        missing = sorted(sides[side][who]["vcpu"] for who in
                         set(sides[side]) - set(sides[1 - side]))
        if sorted(printed[name]) != missing:
            sys.exit("%s: %s, not %s" % (name, printed[name], missing))
    print(len(expected))


main()
