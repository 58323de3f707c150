#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the rows of a rollup add up to the numbers of report, to the nanosecond?

rollup_sums.py REPORT.json ALL.json ROLLUP.csv ROLLUP.tsv WHOLE.csv HOST INTERVAL_NS START_NS

ALL.json is a report of all vCPUs, WHOLE.csv a rollup in one interval. Prints how many numbers were compared, and in how many
intervals they were.
"""
import collections
import csv
import json
import re
import sys

import known

STATES = "guest hypervisor polling vmm preempted waking blocked device_model offline unknown".split()
LENGTHS = "wake", "steal", "exit"
COLUMNS = (["host", "trace_ns", "time", "time_ns", "length_ns", "machine_id", "machine", "vcpu"] +
           ["state:" + state for state in STATES] + ["preempted", "waking", "migrations"] +
           ["exit_reason", "exit_count", "exit_complete", "exit_ns", "steal_by", "steal_ns"] +
           [length + "_length_" + what for length in LENGTHS for what in ("bucket", "count")] +
           ["lost_pcpu", "lost_ns", "lost_records"])
SUBS = 8


def last_of(bucket):
    """The longest length of a bucket, by the rule of docs/rollup.md."""
    following = bucket + 1
    if following < SUBS:
        return bucket
    return ((SUBS + following % SUBS) << (following // SUBS - 1)) - 1


def add(sums, key, value):
    if value:
        sums[key] += value


def unknown_culprits(path):
    """vCPUs whose culprits the trace does not show."""
    return {vcpu["vcpu"] for machine in json.load(open(path))["machines"]
            for vcpu in machine["vcpus"] if vcpu["culprits"] is None}


def of_report(report, everybody, unknown):
    sums, machines = collections.Counter(), {}
    begin, end = report["window_ns"]
    for machine in everybody["machines"]:
        for vcpu in machine["vcpus"]:
            # without the number of the domain
            machines[vcpu["vcpu"]] = re.sub(r"^d\d+:", "", machine["machine"])
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            who = machine["id"], vcpu["id"]
            for state, stretches in vcpu["states"].items():
                add(sums, (who, "state", state, "ns"), stretches["total_ns"])
                add(sums, (who, "state", state, "count"), stretches["count"])
            add(sums, (who, "migrations", "", "count"), vcpu["migrations"])
            for exit in vcpu["exits"]:
                for value, key in ("count",) * 2, ("complete",) * 2, ("ns", "total_ns"):
                    add(sums, (who, "exit", exit["reason"], value), exit[key])
            if vcpu["vcpu"] in unknown:
                add(sums, (who, "steal", "unknown", "ns"), vcpu["states"]["preempted"]["total_ns"])
            for culprit in vcpu["culprits"]:
                name = machines.get(culprit["who"], culprit["who"])
                add(sums, (who, "steal", name, "ns"), culprit["total_ns"])
    for pcpu in report["pcpus"]:
        add(sums, ("host", "lost", "p%d" % pcpu["pcpu"], "ns"), pcpu["lost_ns"])
    for loss in report["lost"]["windows"]:
        if begin <= loss["from_ns"] < end:
            add(sums, ("host", "lost", "p%d" % loss["pcpu"], "count"), loss["records"])
    return sums


def unescape(text):
    """Names are escaped as for people."""
    return re.sub(r"\\(?:x([0-9a-f]{2})|(.))",
                  lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)


def unquote(text):
    """What was a spreadsheet's formula, or begins with an apostrophe, has one more in front."""
    return unescape(text[1:] if text.startswith("'") else text)


def of_csv(path, host):
    """Sums, lengths by vCPU, and the intervals: begin and length."""
    sums, lengths, times = collections.Counter(), collections.Counter(), {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if unquote(row["host"]) != host:
                sys.exit("another host: " + row["host"])
            times[int(row["time_ns"])] = int(row["length_ns"])
            who = (int(row["machine_id"]), int(row["vcpu"])) if row["vcpu"] else "host"
            if row["kind"].endswith("_length") and not row["up_to_ns"]:
                # unknown
                assert not row["count"], row
                continue
            if row["kind"].endswith("_length"):
                add(lengths, (who, row["kind"][:-len("_length")], int(row["up_to_ns"])),
                    int(row["count"]))
                continue
            for value in "count", "complete", "ns":
                add(sums, (who, row["kind"], unquote(row["name"]), value), int(row[value] or 0))
    return sums, lengths, times


def split_array(text):
    if not text.startswith("[") or not text.endswith("]"):
        sys.exit("no array: " + text)
    parts = re.findall(r"'((?:[^'\\]|\\.)*)'|(-?\d+)", text[1:-1])
    return [int(number) if number else re.sub(r"\\(.)", r"\1", name) for name, number in parts]


def of_tsv(path, host):
    sums, lengths, times = collections.Counter(), collections.Counter(), {}
    keys = set()
    for line in open(path, encoding="utf-8"):
        values = line.rstrip("\n").split("\t")
        if len(values) != len(COLUMNS):
            sys.exit("%d columns" % len(values))
        row = {column: 0 if value == "\\N" else value for column, value in zip(COLUMNS, values)}
        if unescape(re.sub(r"\\(.)", r"\1", row["host"])) != host:
            sys.exit("another host: " + row["host"])
        row.update((key, int(value)) for key, value in row.items()
                   if isinstance(value, str) and re.fullmatch(r"-?\d+", value) and key not in ("host", "machine"))
        row.update((key, split_array(value)) for key, value in row.items()
                   if isinstance(value, str) and value.startswith("[") and
                   key not in ("host", "machine"))
        if row["time"] != row["time_ns"] // 10 ** 9:
            sys.exit("time is not that of time_ns: " + line)
        times[row["time_ns"]] = row["length_ns"]
        who = (row["machine_id"], row["vcpu"]) if row["vcpu"] >= 0 else "host"
        key = row["machine_id"], row["vcpu"], row["time_ns"]
        if key in keys:
            sys.exit("a row once more: " + line)
        keys.add(key)
        total = sum(row["state:" + state] for state in STATES)
        if who != "host" and (total > row["length_ns"] if "\\N" in values else
                              total != row["length_ns"]):
            sys.exit("states do not fill the interval: " + line)
        for state in STATES:
            add(sums, (who, "state", state, "ns"), row["state:" + state])
        add(sums, (who, "state", "preempted", "count"), row["preempted"])
        add(sums, (who, "state", "waking", "count"), row["waking"])
        add(sums, (who, "migrations", "", "count"), row["migrations"])
        for i, reason in enumerate(row["exit_reason"]):
            for value in "count", "complete", "ns":
                add(sums, (who, "exit", unescape(reason), value), row["exit_" + value][i])
        for name, ns in zip(row["steal_by"], row["steal_ns"]):
            add(sums, (who, "steal", unescape(name), "ns"), ns)
        for pcpu, ns, records in zip(row["lost_pcpu"], row["lost_ns"], row["lost_records"]):
            add(sums, (who, "lost", "p%d" % pcpu, "ns"), ns)
            add(sums, (who, "lost", "p%d" % pcpu, "count"), max(records, 0))
    return sums, lengths, times


def compare(what, left, right):
    for key in sorted(set(left) | set(right), key=repr):
        if left[key] != right[key]:
            sys.exit("%s: %s: %s, not %s" % (what, key, right[key], left[key]))


def percentile(counts, per_cent):
    rank, below = -(-sum(counts.values()) * per_cent // 100), 0
    for up_to, count in sorted(counts.items()):
        below += count
        if below >= rank:
            return up_to


def check_lengths(report, lengths):
    """All are there, and percentiles are at most an eighth above those of report."""
    n = 0
    for machine in report["machines"]:
        for vcpu in machine["vcpus"]:
            for what, state in ("wake", "waking"), ("steal", "preempted"):
                right = vcpu["states"][state]
                counts = {up_to: count for (who, kind, up_to), count in lengths.items()
                          if who == (machine["id"], vcpu["id"]) and kind == what}
                if sum(counts.values()) != right["complete"]:
                    sys.exit("%s: %s: %d lengths" % (vcpu["vcpu"], what, sum(counts.values())))
                for per_cent in (5, 50, 95, 99) if counts else ():
                    shown, exact = percentile(counts, per_cent), right["p%d_ns" % per_cent]
                    n += 1
                    if not exact <= shown <= exact + exact // 8:
                        sys.exit("%s: %s: p%d %d, not %d" % (vcpu["vcpu"], what, per_cent, shown,
                                                             exact))
            exits = sum(count for (who, kind, _), count in lengths.items()
                        if who == (machine["id"], vcpu["id"]) and kind == "exit")
            if exits != sum(exit["complete"] for exit in vcpu["exits"]):
                sys.exit("%s: %d lengths of exits" % (vcpu["vcpu"], exits))
    return n


def check_times(times, window, interval, start):
    at = window[0] + start
    for time, length in sorted(times.items()):
        if time % interval or time != at - at % interval:
            sys.exit("an interval at %d, not %d" % (time, at))
        at += length
    if times and at != window[1] + start:
        sys.exit("the last interval ends at %d, not %d" % (at, window[1] + start))


def tsv_lengths(path):
    sums = collections.Counter()
    for line in open(path, encoding="utf-8"):
        row = dict(zip(COLUMNS, line.rstrip("\n").split("\t")))
        for what in LENGTHS:
            for bucket, count in zip(split_array(row[what + "_length_bucket"]),
                                     split_array(row[what + "_length_count"])):
                sums[(int(row["machine_id"]), int(row["vcpu"])), what, last_of(bucket)] += count
    return sums


def main():
    report, everybody = (known.load(open(path)) for path in sys.argv[1:3])
    host, interval, start = sys.argv[6], int(sys.argv[7]), int(sys.argv[8])
    expected = of_report(report, everybody, unknown_culprits(sys.argv[1]))
    sums, lengths, times = of_csv(sys.argv[3], host)
    compare("CSV", expected, sums)
    check_times(times, report["window_ns"], interval, start)
    n = check_lengths(report, lengths)
    _, whole, _ = of_csv(sys.argv[5], host)
    compare("lengths of parts", whole, lengths)
    compare("lengths for ClickHouse", lengths, tsv_lengths(sys.argv[4]))
    sums, _, rows = of_tsv(sys.argv[4], host)
    # of other states, only time is there
    compare("ClickHouse", collections.Counter({
        key: value for key, value in expected.items()
        if not (key[1] == "state" and key[3] == "count" and
                key[2] not in ("preempted", "waking"))}), sums)
    check_times(rows, report["window_ns"], interval, start)
    print(len(expected) + n, len(rows))


main()
