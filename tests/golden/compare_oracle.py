#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compute what "kshark-virt compare" computes, with Python's own statistics.

Usage: compare_oracle.py make VALUES.csv
       compare_oracle.py check VALUES.csv COMPARED.csv nearest|linear BASELINE [METRIC]

"make" writes results as a latency benchmark and a throughput benchmark with 1 and 8 threads give
them, by tracing configuration; always the same. "check" compares all numbers but the intervals, of
which it looks whether they hold the value.
"""
import collections
import csv
import math
import statistics
import sys
from fractions import Fraction

CONFIGS = (("baseline", 1.0), ("host traced", 1.04), ("all events", 1.35),
           ("guest traced", 1.09), ("both", 1.15))


def make(path):
    state = 12345

    def uniform():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return ((state >> 33) + 0.5) / 2 ** 31

    with open(path, "w") as out:
        out.write("run,metric,value\n")
        for name, factor in CONFIGS:
            for _ in range(1000):
                # most are quick, some are very slow
                latency = factor * (20 + 5 * uniform() - 8 * math.log(uniform()))
                out.write("%s,latency_us,%.3f\n" % (name, latency))
        for threads, rate in ((1, 1e6), (8, 6.4e6)):
            for name, factor in CONFIGS:
                for _ in range(10):
                    value = rate / factor * (0.99 + 0.02 * uniform())
                    out.write("%s,%d thread%s,%.0f\n" % (name, threads, "s"[threads == 1:], value))


def percentile(values, q, how):
    values = sorted(values)
    if how == "nearest":
        return values[math.ceil(q / 100 * len(values)) - 1]
    place = q / 100 * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def expect(values, name, how):
    if name == "mean":
        return statistics.mean(values)
    if name == "hmean":
        return statistics.harmonic_mean(values) if min(values) > 0 else None
    if name == "stddev":
        return statistics.stdev(values) if len(values) > 1 else None
    if name != "p50" and is_highest(values, name):
        return None
    return percentile(values, Fraction(name[1:]), how)


def is_highest(values, name):
    """There are so few values that a percentile is their highest one."""
    return math.ceil(Fraction(name[1:]) / 100 * len(values)) == len(values)


def verdict(name, inside, *runs):
    if name[0] == "p" and is_highest(min(runs, key=len), name):
        return "too few values"
    return "within noise" if inside else "different"


def near(a, b):
    return abs(a - b) <= 2e-9 * max(abs(a), abs(b), 1e-9)


def check(values_path, compared_path, how, base, only=None):
    values = collections.defaultdict(list)
    for row in csv.DictReader(open(values_path)):
        values[row["metric"], row["run"]].append(float(row["value"]))
    bad = count = 0
    for row in csv.DictReader(open(compared_path)):
        where = row["metric"], row["run"]
        name = row["statistic"]
        wanted = expect(values[where], name, how)
        count += 1
        if row["value"] == "" or wanted is None:
            right = row["value"] == "" and wanted is None
            right &= name[0] != "p" or row["verdict"] in ("too few values", "baseline")
        else:
            value = float(row["value"])
            right = near(value, float(wanted)) and int(row["values"]) == len(values[where])
            right &= row["low"] == "" or float(row["low"]) <= value
            right &= row["high"] == "" or value <= float(row["high"])
            # a percentile's interval has an end where a value would lie beyond it too seldom
            if name[0] == "p":
                few = Fraction(name[1:]) / 100
                right &= (row["high"] == "") == (float(few) ** len(values[where]) > 0.025)
            if row["run"] != base:
                reference = float(expect(values[row["metric"], base], name, how))
                # differences of equal numbers: compared to what can be seen
                right &= abs(float(row["difference_percent"]) -
                             100 * (float(wanted) - reference) / reference) < 1e-6
                inside = row["difference_low"] == "" or \
                    float(row["difference_low"]) <= 0 <= float(row["difference_high"])
                right &= row["verdict"] == verdict(name, inside, values[where],
                                                   values[row["metric"], base])
        if not right:
            bad += 1
            print("%s: expected %s: %s" % (where, wanted, row))
    expected = {metric for metric, _ in values if only in (None, metric)}
    runs = {run for _, run in values}
    if count != len(expected) * len(runs) * 10:
        sys.exit("%d rows are not all" % count)
    print("%d numbers, %d wrong" % (count, bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        check(*sys.argv[2:])
