#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Verdicts of "why --guest-log" with fewer events: each number is that of the whole trace, or unknown.

usage: verdicts_less.py WHOLE.json LESS.json LESS.txt	which is the same as text
"""
import json
import sys

# How much is known differs by its nature; so does where the trace begins and ends.
FREE = "unsure_ns", "unknown_ns", "before_ns", "after_ns"
SUMS = "guest_ns", "host_ns", "asleep_ns", "other_host_ns"


def compare(whole, less, path):
    """Return how many numbers are unknown."""
    if less is None:
        return 1
    assert less == whole, (path, whole, less)
    return 0


def check(whole, less):
    """A part that includes another one is the sum of both."""
    unknown = compare(whole["largest_part"], less["largest_part"], "largest_part")
    for key in SUMS:
        if key in less:
            unknown += compare(whole[key], less[key], key)
    for key in "culprits", "exits":
        unknown += compare(whole[key], less[key], key)
    for key, ns in less["parts"].items():
        truth = whole["parts"][key]
        if key in FREE:
            continue
        if less.get(key[:-3] + "_includes") == "vmm":
            truth += whole["parts"]["vmm_ns"]
        unknown += compare(truth, ns, key)
    return unknown


def judged(name):
    return {answer["line"]: answer for answer in json.load(open(name))["answers"] if "verdict" in answer}


whole, less = judged(sys.argv[1]), judged(sys.argv[2])
assert whole and whole.keys() == less.keys()
unknown = sum(check(whole[line], less[line]) for line in whole)
rows = [line for line in open(sys.argv[3]) if line.split()[:2] == ["-", "-"]]
parts = sum(ns is None for answer in less.values() for ns in answer["parts"].values())
assert len(rows) == parts, (len(rows), parts)
print(unknown)
