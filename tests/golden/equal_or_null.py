#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was not recorded is unknown: compare report's JSON of a trace with that of a smaller one.

Usage: equal_or_null.py FULL.json LESS.json WHAT [--expect-unknown PATH...]

LESS is the report of the same trace with fewer kinds of events. Each number of FULL must be the same
in LESS, or null. A state that "includes" another one must be the sum of both. With --expect-unknown,
a number of LESS at a path such as "states/waking/total_ns" must be null, so that a test cannot pass because
nothing was left out.
"""
import json
import sys

# How much is known differs by its nature; so does what is counted by event.
FREE = {"known_ns", "unknown", "unknown_ns", "lost", "not_recorded", "contradictions", "unsplit",
        "unsplit_ns", "volume", "vmm_includes", "hypervisor_includes", "guest_includes", "events", "records",
        "interrupts", "hypercalls", "includes"}

# Of those stretches alone that are shown from their beginning to their end.
LENGTHS = {"complete", "mean_ns", "min_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns",
           "before_ns"}

# Of the same stretches, all together.
SUMS = {"total_ns", "states_ns", "unasked_ns", "unasked_vmm_ns"}

# Of what is not split, this is known all the same.
UNSPLIT_KNOWN = {"id", "machine", "vcpu", "reason", "count", "tid", "guest", "machines", "vcpus", "exits",
                 "states", "n_vcpus"}

# Which state one is included in.
INCLUDING = {"vmm": "hypervisor", "waking": "blocked", "hypervisor": "guest"}


def key_of(item):
    """What makes an entry of a list the same in both."""
    if isinstance(item, dict):
        for key in ("id", "pcpu", "machine", "name", "reason", "who", "time_ns"):
            if key in item:
                return key, item[key]
    return None


class Comparison:
    def __init__(self, what, expected):
        self.what = what
        self.expected = expected
        self.nulls = set()
        self.wrong = []
        self.n = 0

    def fail(self, path, full, less):
        self.wrong.append("%s: %s is %s, and %s in the whole trace" % (self.what, path, less, full))

    @staticmethod
    def total(value):
        """A number, or what the members of an object add up to."""
        if isinstance(value, dict):
            return sum(v for v in value.values() if isinstance(v, (int, float)))
        return value

    def compare(self, path, full, less):
        if less is None:
            self.nulls.add(path)
        elif isinstance(full, dict) and isinstance(less, dict):
            self.compare_dict(path, full, less)
        elif isinstance(full, list) and isinstance(less, list):
            self.compare_list(path, full, less)
        elif isinstance(full, (int, float)) and not isinstance(full, bool):
            self.n += 1
            if full != less:
                self.fail(path, full, less)

    def compare_dict(self, path, full, less):
        # where it is not shown how something begins or ends, it has no length: fewer lengths have
        # other statistics, and a smaller sum
        fewer = (less.get("complete") or 0) < (full.get("complete") or 0)
        if fewer and full.get("count") == less.get("count"):
            for key in SUMS & full.keys() & less.keys():
                if less[key] is not None and self.total(less[key]) > self.total(full[key]):
                    self.fail(path + "/" + key, full[key], less[key])
            full = {key: full[key] for key in full if key not in LENGTHS | SUMS}
            less = {key: less[key] for key in less if key not in LENGTHS | SUMS}
        unknown = any(value is None for value in less.values())
        # without sched_switch, what is not split is marked so
        unsplit = "unsplit" in less or "unsplit_ns" in less
        if "unsplit_ns" in less and "states" in less:
            less["states"] = {key: value for key, value in less["states"].items()
                              if key not in ("hypervisor", "vmm")}
        for key, value in full.items():
            if key in FREE or unsplit and key not in UNSPLIT_KNOWN:
                continue
            including = less.get(key[:-2] + "includes") if key.endswith("_ns") else None
            if including and less[key] is not None:
                self.compare(path + "/" + key, value + full[including + "_ns"], less[key])
            elif "includes" in less and "total_ns" not in less and key in less:
                self.compare_part(path + "/" + key, full, key, less)
            elif key in less:
                inner = less[key]
                if isinstance(inner, dict) and "includes" in inner and "total_ns" in inner:
                    self.compare_sum(path + "/" + key, full, key, inner)
                else:
                    self.compare(path + "/" + key, value, inner)
            elif not unknown and isinstance(value, (int, float)) and value:
                self.fail(path + "/" + key, value, "missing")
        for key, value in less.items():
            if key not in full and key not in FREE and not unsplit and isinstance(value, (int, float)) and \
                    not isinstance(value, bool) and value:
                self.fail(path + "/" + key, "missing", value)

    def compare_part(self, path, full, key, less):
        """Of numbers side by side: hypervisor, which includes vmm."""
        value = less[key]
        if value is None or key == "includes":
            return
        self.n += 1
        whole = full[key] + (full.get(less["includes"], 0) if less.get(less["includes"], 0) is None
                             and key == INCLUDING[less["includes"]] else 0)
        if value != whole:
            self.fail(path, whole, value)

    def compare_sum(self, path, full, key, inner):
        self.n += 1
        both = full[key]["total_ns"] + full[inner["includes"]]["total_ns"]
        # what happened before the first record may be unknown then
        if inner["total_ns"] > both or inner["total_ns"] < 0.9 * both:
            self.fail(path + "/total_ns with " + inner["includes"], both, inner["total_ns"])

    def compare_list(self, path, full, less):
        others = {key_of(item): item for item in less if key_of(item)}
        if full and not any(key_of(item) for item in full):
            for one, other in zip(full, less):
                self.compare(path, one, other)
            return
        for item in full:
            where = "%s/%s" % (path, key_of(item)[1])
            if key_of(item) in others:
                self.compare(where, item, others.pop(key_of(item)))
            else:
                self.fail(where, "there", "missing")
        for key in others:
            self.fail("%s/%s" % (path, key[1]), "missing", "there")


def main():
    full = json.load(open(sys.argv[1]))
    less = json.load(open(sys.argv[2]))
    expected = sys.argv[5:] if sys.argv[4:5] == ["--expect-unknown"] else []
    comparison = Comparison(sys.argv[3], expected)
    comparison.compare("", full, less)
    for path in expected:
        if not any(null.endswith(path) for null in comparison.nulls):
            comparison.wrong.append("%s: %s is known" % (sys.argv[3], path))
    print("\n".join(comparison.wrong[:12]))
    if len(comparison.wrong) > 12:
        print("... and %d more" % (len(comparison.wrong) - 12))
    assert comparison.n > 10, "nothing was compared"
    sys.exit(bool(comparison.wrong))


main()
