# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits as JSON, CSV and text say the same, and add up to what the report says of the state blocked.

usage: report_waits.py WAITS.json WAITS.csv WAITS.text REPORT.json
"""
import csv
import json
import sys

PERCENTILES = ("mean_ns", "min_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")


def load(path):
    return json.load(open(path))


def duration(text):
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


def check_sum(item):
    """Each wait has one cause."""
    for key in "total_ns", "count", "complete":
        assert sum(c["blocked"][key] for c in item["causes"]) == item["blocked"][key]
        assert sum(c["wake_latency"][key] for c in item["causes"]) == item["wake_latency"][key]
    assert "unknown" in [cause["cause"] for cause in item["causes"]]


def same_row(row, item):
    for key in "blocked", "wake_latency":
        dist = item[key]
        assert int(row[key + "_total_ns"]) == dist["total_ns"]
        for column in ("count", "complete") + PERCENTILES:
            assert row[key + "_" + column] == str(dist.get(column, "")), (row, item)
    assert row["blocked_before"] == str(item["blocked"].get("before", 0))
    assert row["blocked_before_ns"] == str(item["blocked"].get("before_ns", ""))


def check_csv(waits, rows):
    for machine in waits["machines"]:
        for item in [machine] + machine["vcpus"]:
            vcpu = "" if item is machine else item["vcpu"]
            mine = [r for r in rows if r["section"] == "cause" and
                    r["machine"] == machine["machine"] and r["vcpu"] == vcpu]
            assert [r["cause"] for r in mine] == ["all"] + [c["cause"] for c in item["causes"]]
            for row, other in zip(mine, [item] + item["causes"]):
                same_row(row, other)
        mine = [r for r in rows if r["section"] == "waker" and r["machine"] == machine["machine"]]
        assert len(mine) == len(machine["wakers"])
        for row, waker in zip(mine, machine["wakers"]):
            same_row(row, waker)
            for key in "vcpu", "cause", "who", "vector":
                assert row[key] == str(waker.get(key, "")), (row, waker)


def check_text(waits, lines):
    """Each cause's time and number, in the order of JSON."""
    printed = []
    for at, line in enumerate(lines):
        if line.startswith("  blocked until"):
            for row in lines[at + 1:]:
                if not row.strip() or row.startswith("  all") or row.startswith("  then"):
                    break
                share = [row[42:52]] if len(row) > 52 else []
                printed.append((row[2:22].strip(), duration(row[22:34]), int(row[44:56])))
    wanted = [(cause["cause"], cause["blocked"]["total_ns"], cause["blocked"]["count"])
              for machine in waits["machines"] for item in [machine] + machine["vcpus"]
              for cause in item["causes"]]
    assert len(printed) == len(wanted), (printed, wanted)
    for (name, ns, count), (cause, exact, number) in zip(printed, wanted):
        assert name == cause and count == number
        assert abs(ns - exact) <= 1e-3 * exact + 1, (name, ns, exact)


def main(waits, table, text, report):
    waits, report = load(waits), load(report)
    assert waits["window_ns"] == report["window_ns"]
    machines = {machine["machine"]: machine for machine in report["machines"]}
    assert list(machines) == [machine["machine"] for machine in waits["machines"]]
    for machine in waits["machines"]:
        check_sum(machine)
        for part in "vcpus", "wakers":
            assert machine["blocked"]["total_ns"] == sum(w["blocked"]["total_ns"] for w in machine[part])
        of_report = {vcpu["vcpu"]: vcpu for vcpu in machines[machine["machine"]]["vcpus"]}
        assert list(of_report) == [vcpu["vcpu"] for vcpu in machine["vcpus"]]
        for vcpu in machine["vcpus"]:
            check_sum(vcpu)
            blocked = of_report[vcpu["vcpu"]]["states"].get("blocked", {"total_ns": 0, "count": 0})
            assert vcpu["blocked"]["total_ns"] == blocked["total_ns"]
            assert vcpu["blocked"]["count"] == blocked["count"]
    check_csv(waits, list(csv.DictReader(open(table))))
    check_text(waits, open(text).read().splitlines())


main(*sys.argv[1:])
