#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is unknown is null, not absent: compare the keys of JSON of a trace with those of a smaller one.

Usage: same_keys.py FULL.json LESS.json WHAT

LESS is of the same trace with fewer kinds of events. A key that each object of a kind has in FULL, it has in
LESS. A distribution without any length has no statistics, whatever is recorded.
"""
import json
import sys

STATISTICS = {"mean_ns", "min_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns", "p99_ns"}
# What makes objects of one list differ.
KINDS = "section", "kind", "cause"


def objects(value, path):
    """All objects with the kind of place that they are in."""
    if isinstance(value, dict):
        path += "".join("[%s]" % value[key] for key in KINDS if isinstance(value.get(key), str))
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, path + "/" + ("N" if key.isdigit() else key))
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner, path + "[]")


def is_empty(value):
    return value.get("complete", value.get("count")) == 0


def main():
    full, less = (json.load(open(path)) for path in sys.argv[1:3])
    always = {}
    for path, value in objects(full, ""):
        keys = {key for key in value if not key.isdigit()}
        always[path] = always.get(path, keys) & keys
    wrong, n = set(), 0
    for path, value in objects(less, ""):
        n += 1
        for key in always.get(path, set()) - value.keys():
            if key not in STATISTICS or not is_empty(value):
                wrong.add("%s: %s has no %s" % (sys.argv[3], path, key))
    print("\n".join(sorted(wrong)[:12]), end="\n" if wrong else "")
    assert n, "nothing was compared"
    sys.exit(bool(wrong))


main()
