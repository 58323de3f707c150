#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Are the metrics of compare --exits --windows 1 --statistic mean,p50 those of report --exits?

compare_exits.py COMPARED.csv RUN=EXITS.json=REPORT.json...

Also: metrics of one run have a value of the others, 0 where these have no such exits, and none where a trace cannot
show them. Prints how many values were compared.
"""
import csv
import json
import sys

UNNAMED = "not recorded"


def known_of(report):
    return {machine["machine"]: sum(vcpu["known_ns"] for vcpu in machine["vcpus"]) for machine in report["machines"]}


def add(found, name, part, known):
    cost = part["cost"] or {"count": 0}
    assert name not in found, name
    found[name] = part["count"] * 1e9 / known, cost["count"], cost.get("total_ns"), cost.get("p50_ns")


def metrics_of(page, report):
    """By machine and name: rate, number of costs, their sum, the median; and what cannot be known, by prefix."""
    known, found, unknown = known_of(report), {}, set()
    for vcpu in page["vcpus"]:
        if vcpu["vcpu"] != "all":
            continue
        machine = vcpu["machine"]
        for exit in vcpu["exits"]:
            reason = exit["reason"]
            add(found, (machine, reason), exit, known[machine])
            parts, causes = exit.get("arguments"), exit.get("causes")
            for cause in causes or []:
                add(found, (machine, f"{reason}:{cause['cause']}"), cause, known[machine])
            for part in parts or []:
                if part["argument"] in ("unknown", "others"):
                    unknown.add((machine, reason))
                    continue
                name = part["argument"] if causes is None else f"{part['cause']}:{part['argument']}"
                add(found, (machine, f"{reason}:{name}"), part, known[machine])
    return found, unknown


def near(a, b):
    assert abs(float(a) - b) <= 1e-6 * max(abs(b), 1), (a, b)


def main():
    rows = {}
    for row in csv.DictReader(open(sys.argv[1], newline="")):
        machine, _, rest = row["metric"].partition(".")
        what, _, name = rest.partition(":")
        if what in ("exits_per_s", "exit_cost_ns") and name:
            rows.setdefault((machine, name), {})[row["run"], what, row["statistic"]] = row
    runs = {}
    for argument in sys.argv[2:]:
        run, page, report = argument.split("=")
        runs[run] = metrics_of(json.load(open(page)), json.load(open(report)))
    compared = 0
    wanted = set().union(*(found for found, _ in runs.values()))
    assert set(rows) == wanted, set(rows) ^ wanted
    for key, row in rows.items():
        for run, (found, unknown) in runs.items():
            rate, n, total, median = found.get(key, (0, 0, 0, 0))
            said = row.get((run, "exits_per_s", "mean"))
            if key not in found and (key[0], key[1].partition(":")[0]) in unknown:
                assert not said or said["value"] == "", said
                continue
            near(said["value"], rate)
            said = row.get((run, "exit_cost_ns", "mean")), row.get((run, "exit_cost_ns", "p50"))
            assert (n > 0) == bool(said[0] and said[0]["value"]), (key, run, said)
            if n:
                assert int(said[0]["values"]) == n, (key, run)
                near(said[0]["value"], total / n)
                near(said[1]["value"], median)
            compared += 2
    # parts add up to their reason where all arguments are kept apart
    for run, (found, unknown) in runs.items():
        for machine, name in found:
            if (machine, name.partition(":")[0]) in unknown:
                continue
            parts = [float(row[run, "exits_per_s", "mean"]["value"]) for (of, key), row in rows.items()
                     if of == machine and key.startswith(name + ":") and key.count(":") == name.count(":") + 1 and
                     (run, "exits_per_s", "mean") in row]
            if parts:
                near(sum(parts), found[machine, name][0])
                compared += 1
    print(compared)


main()
