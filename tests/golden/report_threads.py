# SPDX-License-Identifier: LGPL-2.1-or-later
"""Threads as JSON, CSV and text say the same, within what the report says of pCPUs and culprits.

usage: report_threads.py THREADS.json THREADS.csv THREADS.text REPORT.json
"""
import collections
import csv
import json
import sys


def load(path):
    """One document for each file that was reported on; here there is one."""
    return json.load(open(path))


def check_csv(threads, rows):
    at = 0
    for machine in threads["machines"]:
        for thread in machine["threads"]:
            row = rows[at]
            assert row["machine"] == machine["machine"] and row["pcpu"] == ""
            for column in "name", "thread", "pid", "kind", "known_by", "total_ns", "runs", "max_ns", \
                          "own_steal_ns", "others_steal_ns":
                known = thread[column] is not None
                assert row[column] == (str(thread[column]) if known else ""), (row, thread)
            places = rows[at + 1:at + 1 + len(thread["pcpus_ns"])]
            assert {r["pcpu"]: int(r["total_ns"]) for r in places} == thread["pcpus_ns"]
            assert sum(int(r["runs"]) for r in places) == thread["runs"]
            assert max((int(r["max_ns"]) for r in places), default=0) == thread["max_ns"]
            at += 1 + len(places)
    assert at == len(rows)


def check_sums(threads, report):
    begin, end = threads["window_ns"]
    pcpus = collections.Counter()
    for machine in threads["machines"]:
        for thread in machine["threads"]:
            assert sum(thread["pcpus_ns"].values()) == thread["total_ns"]
            assert thread["max_ns"] <= thread["total_ns"]
            pcpus.update(thread["pcpus_ns"])
        assert sum(thread["total_ns"] for thread in machine["threads"]) == machine["total_ns"]
    for pcpu in report["pcpus"]:
        of_threads = pcpus.pop(str(pcpu["pcpu"]), 0)
        assert of_threads <= pcpu.get("task_ns", 0) <= end - begin
    assert not pcpus


def check_culprits(threads, report):
    """The waits of vCPUs for threads are what the threads have taken. Both are known, or none."""
    taken = [thread[key] for machine in threads["machines"] for thread in machine["threads"]
             for key in ("own_steal_ns", "others_steal_ns")]
    if any(vcpu["culprits"] is None for machine in report["machines"] for vcpu in machine["vcpus"]):
        assert taken and not any(ns is not None for ns in taken), taken
        return
    assert None not in taken
    own, others = collections.Counter(), collections.Counter()
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            for culprit in vcpu["culprits"]:
                (own if culprit.get("own") else others)[culprit["who"]] += culprit["total_ns"]
    for machine in threads["machines"]:
        for thread in machine["threads"]:
            assert own.pop(thread["name"], 0) == thread["own_steal_ns"]
            assert others[thread["name"]] == thread["others_steal_ns"]
    assert not own


def main(json_path, csv_path, text_path, report_path):
    threads, report = load(json_path), load(report_path)
    text = open(text_path).read()
    check_csv(threads, list(csv.DictReader(open(csv_path))))
    check_sums(threads, report)
    check_culprits(threads, report)
    for machine in threads["machines"]:
        for thread in machine["threads"]:
            assert thread["name"] in text and thread["thread"] in text


main(*sys.argv[1:])
