#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was not recorded is unknown: compare report's JSON of a trace with that of a smaller one.

Usage: equal_or_null.py FULL.json LESS.json WHAT [--expect-unknown PATH...]
       equal_or_null.py FULL.json LESS.json WHAT --page
       equal_or_null.py FULL.json LESS.json WHAT --near-switches

LESS is the report of the same trace with fewer kinds of events. Each number of FULL must be the same
in LESS, or null. A state that "includes" another one must be the sum of both. With --expect-unknown,
a number of LESS at a path such as "states/waking/total_ns" must be null, so that a test cannot pass because
nothing was left out. With --page, LESS is one page of a report, which may have few numbers. With
--near-switches, the moments of switches are those of other records, some microseconds away: times
may differ by 1 % or 300 us, and numbers of anything else may not.
"""
import json
import sys

# How much is known differs by its nature; so does what is counted by event.
FREE = {"known_ns", "unknown", "unknown_ns", "lost", "not_recorded", "contradictions", "unsplit",
        "unsplit_ns", "volume", "events", "records", "includes", "mode_unknown_ns"}

# Of those stretches alone that are shown from their beginning to their end.
LENGTHS = {"complete", "mean_ns", "min_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns",
           "before_ns"}

# Of the same stretches, all together.
SUMS = {"total_ns", "states_ns", "unasked_ns", "unasked_vmm_ns"}

# Of what is not split, this is known all the same.
UNSPLIT_KNOWN = {"id", "machine", "vcpu", "reason", "count", "tid", "guest", "machines", "vcpus", "exits",
                 "states", "n_vcpus"}

# Numbers by which rows differ.
IDS = {"id", "pid", "tid", "pcpu", "cpu", "from_pcpu", "to_pcpu", "culprit_pid", "waker_pid", "time_ns", "nr",
       "vector"}


def is_free(name):
    return name in FREE or name.endswith("_includes")


def key_of(item):
    """What makes an entry of a list the same in both: its names and the numbers of what it is of."""
    if not isinstance(item, dict):
        return None
    key = [(name, value) for name, value in sorted(item.items()) if value is not None and
           (name in IDS or isinstance(value, str)) and not is_free(name)]
    return tuple(key) or None


def words_of(key):
    return ",".join(str(value) for name, value in key)


class Comparison:
    def __init__(self, what, expected, near=False):
        self.what = what
        self.near = near
        self.expected = expected
        self.nulls = set()
        self.wrong = []
        self.n = 0
        self.includes = {}

    def fail(self, path, full, less):
        self.wrong.append("%s: %s is %s, and %s in the whole trace" % (self.what, path, less, full))

    def need(self, is_so, path, full, less):
        """One comparison."""
        self.n += 1
        if not is_so:
            self.fail(path, full, less)

    def is_near(self, path, full, less):
        return self.near and "_ns" in path and abs(full - less) <= 300000 + abs(full) / 100

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
        elif full is None:
            # fewer events never make known what all of them do not
            self.need(False, path, "unknown", less)
        elif isinstance(full, (int, float)) and not isinstance(full, bool):
            self.need(full == less or self.is_near(path, full, less), path, full, less)

    def compare_dict(self, path, full, less):
        # where it is not shown how something begins or ends, it has no length: fewer lengths have
        # other statistics, and a smaller sum
        fewer = (less.get("complete") or 0) < (full.get("complete") or 0)
        if fewer and full.get("count") == less.get("count"):
            for key in SUMS & full.keys() & less.keys():
                totals = self.total(full[key]), self.total(less[key])
                if less[key] is not None:
                    self.need(totals[1] <= totals[0] or self.is_near(key, *totals), path + "/" + key,
                              full[key], less[key])
            full = {key: full[key] for key in full if key not in LENGTHS | SUMS}
            less = {key: less[key] for key in less if key not in LENGTHS | SUMS}
        parts = less.get("states_ns")
        if isinstance(parts, dict) and "polling" in parts.get("hypervisor_includes", "").split("+"):
            # so does the cost of a VM exit, as its message says
            self.need(less["total_ns"] >= full["total_ns"], path + "/total_ns", full["total_ns"],
                      less["total_ns"])
            full = {key: full[key] for key in full if key not in LENGTHS | {"total_ns"}}
            less = {key: less[key] for key in less if key not in LENGTHS | {"total_ns"}}
        if path.endswith("/cost") and less.get("count", 0) < full.get("count", 0):
            # of those exits that have a cost
            self.need(less["total_ns"] <= full["total_ns"], path + "/total_ns", full["total_ns"],
                      less["total_ns"])
            return
        unknown = any(value is None for value in less.values())
        # without sched_switch, what is not split is marked so
        unsplit = "unsplit" in less or "unsplit_ns" in less
        if "unsplit_ns" in less and "states" in less:
            less["states"] = {key: value for key, value in less["states"].items()
                              if key not in ("hypervisor", "vmm")}
        for key, value in full.items():
            if is_free(key) or key == "migration_list" and self.near or unsplit and key not in UNSPLIT_KNOWN:
                continue
            unit = "_ns" if key.endswith("_ns") else ""
            including = less.get(key.removesuffix(unit) + "_includes")
            if including and less[key] is not None and value is not None:
                self.compare(path + "/" + key, value + sum(
                    full[state + unit] or 0 for state in including.split("+")), less[key])
            elif key.removesuffix("_ns") in self.includes and less.get(key) is not None:
                self.compare_more(path + "/" + key, value, less[key])
            elif key in less:
                inner = less[key]
                if isinstance(inner, dict) and "includes" in inner and "total_ns" in inner:
                    self.compare_sum(path + "/" + key, full, key, inner)
                else:
                    self.compare(path + "/" + key, value, inner)
            elif not unknown and isinstance(value, (int, float)) and value:
                self.fail(path + "/" + key, value, "missing")
        for key, value in less.items():
            if key not in full and not is_free(key) and not unsplit and isinstance(value, (int, float)) and \
                    not isinstance(value, bool) and value:
                self.fail(path + "/" + key, "missing", value)

    def compare_sum(self, path, full, key, inner):
        parts = [full[state]["total_ns"] for state in (key, *inner["includes"].split("+"))]
        if inner["total_ns"] is None:
            self.nulls.add(path + "/total_ns")
            return
        both = None if None in parts else sum(parts)
        # what happened before the first record may be unknown then
        self.need(both is not None and (0.9 * both <= inner["total_ns"] <= both or
                                        self.is_near("_ns", both, inner["total_ns"])),
                  path + "/total_ns with " + inner["includes"], both, inner["total_ns"])

    def compare_more(self, path, full, less):
        """Of a state that includes another one, where a page does not have the other one beside it."""
        if isinstance(full, dict):
            full, less = full["total_ns"], less["total_ns"]
        self.need(full <= less, path, "%s or more" % full, less)

    def compare_list(self, path, full, less):
        others = {key_of(item): item for item in less if key_of(item)}
        unknown = [key for key in others if ("cause", "unknown") in key]
        if unknown:
            # it has what the others had
            full = [item for item in full if key_of(item) in others and key_of(item) not in unknown]
            for key in unknown:
                del others[key]
        if full and not any(key_of(item) for item in full):
            for one, other in zip(full, less):
                self.compare(path, one, other)
            return
        for item in full:
            where = "%s/%s" % (path, words_of(key_of(item)))
            if key_of(item) in others:
                self.compare(where, item, others.pop(key_of(item)))
            else:
                self.fail(where, "there", "missing")
        for key in others:
            self.fail("%s/%s" % (path, words_of(key)), "missing", "there")


def main():
    full = json.load(open(sys.argv[1]))
    less = json.load(open(sys.argv[2]))
    expected = []
    if "--expect-unknown" in sys.argv[4:]:
        expected = sys.argv[sys.argv.index("--expect-unknown") + 1:]
    is_page = "--page" in sys.argv[4:]
    comparison = Comparison(sys.argv[3], expected, "--near-switches" in sys.argv[4:])
    if is_page:
        comparison.includes = less.get("includes", {})
    for head in full, less:
        for key in "file", "includes", "warnings":
            head.pop(key, None)
    comparison.compare("", full, less)
    for path in expected:
        if not any(null.endswith(path) for null in comparison.nulls):
            comparison.wrong.append("%s: %s is known" % (sys.argv[3], path))
    print("\n".join(comparison.wrong[:12]))
    if len(comparison.wrong) > 12:
        print("... and %d more" % (len(comparison.wrong) - 12))
    n = comparison.n + (len(comparison.nulls) if is_page else 0)
    assert n > (0 if is_page else 10), "nothing was compared"
    sys.exit(bool(comparison.wrong))


main()
