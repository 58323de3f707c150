#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The steal of vCPUs by kind, by "report": laws, and recounts that do not use its culprits.

usage: steal_kinds.py laws REPORT.json REPORT.csv
       steal_kinds.py tables REPORT.json TABLES	TABLES is a folder of "export -f csv-tables": vCPUs alone
       steal_kinds.py text REPORT.json TABLES THREADS.json TEXT	TEXT is what "trace-cmd report -R -t" prints
       steal_kinds.py sums REPORT.json PART.json...	the parts are windows side by side
"""
import bisect
import collections
import csv
import json
import re
import sys

KEYS = "machines_ns", "host_ns", "own_ns", "limit_ns", "nobody_ns", "unknown_ns"
NAMES = "other machines", "host tasks", "own machine", "own limit", "nobody", "unknown"
ON_PCPU = "guest", "hypervisor", "polling", "vmm"


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def numbers(split):
    """Where holds are unknown, none is counted."""
    return {key: 0 if key == "limit_ns" and ns is None else ns for key, ns in split.items()}


def vcpus_of(report):
    return {vcpu["vcpu"]: (machine["machine"], vcpu) for machine in report["machines"] for vcpu in machine["vcpus"]}


def check_laws(report, rows):
    """The kinds of a vCPU are its steal, those of its machine the sums; CSV has what JSON has."""
    kinds = {(row["machine"], row["vcpu"], row["name"]): row["total_ns"]
             for row in rows if row["section"] == "steal_kind"}
    machines = {machine["machine"]: machine for machine in report["steal"]["machines"] or []}
    sums = collections.defaultdict(collections.Counter)
    for name, (machine, vcpu) in vcpus_of(report).items():
        split = vcpu["steal_kinds"]
        assert tuple(split) == KEYS, split
        if vcpu["culprits"] is None:
            assert set(split.values()) == {None}, (name, split)
            assert all(kinds[machine, name, kind] == "" for kind in NAMES), name
            continue
        split = numbers(split)
        assert min(split.values()) >= 0, (name, split)
        assert sum(split.values()) == vcpu["states"]["preempted"]["total_ns"], (name, split)
        assert sum(split.values()) == sum(culprit["total_ns"] for culprit in vcpu["culprits"]), (name, split)
        own = sum(culprit["total_ns"] for culprit in vcpu["culprits"] if culprit.get("own"))
        assert own <= split["own_ns"], (name, split)
        for key, kind in zip(KEYS, NAMES):
            assert split[key] == int(kinds.get((machine, name, kind)) or 0), (name, kind)
        sums[machine].update(split)
        sums[None].update(split)
    for machine, of in machines.items():
        assert numbers(of["kinds"]) == {key: sums[machine][key] for key in KEYS}, machine
    if machines:
        assert numbers(report["steal"]["kinds"]) == {key: sums[None][key] for key in KEYS}
    return sum(sums[None].values())


def table(folder, name):
    with open(f"{folder}/{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def overlaps(stays, starts, begin, end):
    """(who, ns) of the stays on a pCPU within a wait."""
    for start, stop, who in stays[max(bisect.bisect_right(starts, begin) - 1, 0):]:
        if start >= end:
            return
        if min(stop, end) > max(start, begin):
            yield who, min(stop, end) - max(start, begin)


def waits_of(tables):
    vcpus = {row["id"]: row for row in table(tables, "vcpu")}
    for row in table(tables, "interval"):
        if row["state"] == "preempted" and int(row["end_ns"]) > int(row["start_ns"]):
            yield vcpus[row["vcpu"]], row["pcpu"], int(row["start_ns"]), int(row["end_ns"])


def recount(tables, stays, kind_of):
    """By vCPU and kind; what no stay covers is unknown."""
    sums = collections.defaultdict(collections.Counter)
    starts = {pcpu: [stay[0] for stay in all_of] for pcpu, all_of in stays.items()}
    for vcpu, pcpu, begin, end in waits_of(tables):
        rest = end - begin
        for who, ns in overlaps(stays.get(pcpu, []), starts.get(pcpu, []), begin, end):
            sums[vcpu["name"]][kind_of(vcpu, who)] += ns
            rest -= ns
        sums[vcpu["name"]]["unknown_ns"] += rest
    return sums


def check_tables(report, tables):
    """Where vCPUs were, says where they had the pCPU that another one waited for."""
    vcpus = {row["id"]: row for row in table(tables, "vcpu")}
    stays = collections.defaultdict(list)
    for row in table(tables, "interval"):
        if row["state"] in ON_PCPU and row["pcpu"]:
            stays[row["pcpu"]].append((int(row["start_ns"]), int(row["end_ns"]), vcpus[row["vcpu"]]["machine"]))
    for all_of in stays.values():
        all_of.sort()
    sums = recount(tables, stays, lambda vcpu, who: "own_ns" if who == vcpu["machine"] else "machines_ns")
    found = 0
    for name, (_, vcpu) in vcpus_of(report).items():
        split = numbers(vcpu["steal_kinds"])
        for key in "machines_ns", "own_ns":
            assert split[key] == sums[name][key], (name, key, split, sums[name])
        assert split["nobody_ns"] + split["unknown_ns"] + split["host_ns"] == sums[name]["unknown_ns"], (name, split)
        found += split["machines_ns"] + split["own_ns"]
    return found


def switches_of(text):
    """Who had each CPU, and for how long: sched_switch alone."""
    line = re.compile(r"\[(\d+)\]\S*\s+(?:[^\s\d]\S*\s+)?(\d+)\.(\d{9}): sched_switch:.* next_pid=(\d+)")
    stays, last = collections.defaultdict(list), {}
    with open(text, encoding="utf-8", errors="replace") as file:
        for match in map(line.search, file):
            if not match:
                continue
            cpu, time = str(int(match[1])), int(match[2] + match[3])
            if cpu in last:
                stays[cpu].append((last[cpu][0], time, last[cpu][1]))
            last[cpu] = time, int(match[4])
    for cpu, (time, pid) in last.items():
        stays[cpu].append((time, 1 << 63, pid))
    return stays


def check_text(report, tables, threads, text):
    """Everything, from the kernel's switches; the machine of each thread is that of report --threads."""
    machine_of = {int(row["tid"]): row["machine"] for row in table(tables, "vcpu")}
    ids = {row["name"]: row["id"] for row in table(tables, "machine")}
    for machine in threads["machines"]:
        for thread in machine["threads"]:
            machine_of.setdefault(thread["pid"], ids[machine["machine"]])

    def kind_of(vcpu, pid):
        if not pid:
            return "nobody_ns"
        if pid not in machine_of:
            return "host_ns"
        return "own_ns" if machine_of[pid] == vcpu["machine"] else "machines_ns"

    sums = recount(tables, switches_of(text), kind_of)
    found = collections.Counter()
    for name, (_, vcpu) in vcpus_of(report).items():
        counted = {key: sums[name][key] for key in KEYS}
        split = numbers(vcpu["steal_kinds"])
        # before the first switch of a CPU, other records may show who has it
        assert sum(counted.values()) == sum(split.values()), (name, counted)
        more = counted.pop("unknown_ns") - split["unknown_ns"]
        differs = sum(abs(split[key] - ns) for key, ns in counted.items())
        assert more >= 0 and differs == more, (name, counted, split)
        found.update(counted)
    return " ".join(f"{key}={found[key]}" for key in KEYS[:-1])


def check_sums(report, parts):
    """Windows side by side add up."""
    for name, (_, vcpu) in vcpus_of(report).items():
        sums = collections.Counter()
        for part in parts:
            sums.update(numbers(vcpus_of(part)[name][1]["steal_kinds"]))
        assert {key: sums[key] for key in KEYS} == numbers(vcpu["steal_kinds"]), (name, sums)
    return len(parts)


def main(what, path, *more):
    report = load(path)
    if what == "laws":
        with open(more[0], newline="", encoding="utf-8") as file:
            print(check_laws(report, list(csv.DictReader(file))))
    elif what == "tables":
        print(check_tables(report, more[0]))
    elif what == "text":
        print(check_text(report, more[0], load(more[1]), more[2]))
    else:
        print(check_sums(report, [load(part) for part in more]))


main(*sys.argv[1:])
