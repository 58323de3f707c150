#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Are the stacks of export --format folded and speedscope those of its tables, and of report?

flame_graphs.py FOLDED SPEEDSCOPE REPORT.json TABLES ALL [guest]

TABLES: a folder of CSV tables of the same window; ALL: one of the whole trace, which has the VM
exits that began before the window. guest: time in guest code is there, too. Prints how many
stacks there are.
"""
import collections
import csv
import json
import os
import sys


def fail(*words):
    sys.exit("flame_graphs.py: " + " ".join(map(str, words)))


def table(folder, name):
    csv.field_size_limit(1 << 30)
    with open(os.path.join(folder, name + ".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def plain(text):
    """Without what CSV puts before a text that a spreadsheet would calculate."""
    return text[1:] if text.startswith("'") else text


def names_of(folder):
    machines = {row["id"]: plain(row["name"]) for row in table(folder, "machine")}
    return {row["id"]: (machines[row["machine"]], plain(row["name"])) for row in table(folder, "vcpu")}


def exits_of(folder):
    """The last exit at each time of a vCPU, which is the one that goes on."""
    return {(row["vcpu"], int(row["time_ns"])): (plain(row["reason"]), plain(row["argument"]))
            for row in table(folder, "exit")}


def recount(window, whole, with_guest):
    """Sums of all stacks, from intervals and exits."""
    names, exits = names_of(whole), exits_of(whole)
    [host] = table(window, "host")
    begin, end = int(host["from_ns"]), int(host["to_ns"])
    sums, now, last = collections.Counter(), None, None
    for row in table(whole, "interval"):
        if row["vcpu"] != last:
            last, now = row["vcpu"], None
        start = int(row["start_ns"])
        state = row["state"]
        if row["is_exit"] == "1":
            now = exits[last, start]
        elif state in ("guest", "unknown"):
            now = None
        ns = min(int(row["end_ns"]), end) - max(start, begin)
        if ns <= 0 or state == "guest" and not with_guest:
            continue
        frames = [state + (" (unsplit)" if row["is_unsplit"] == "1" else "")]
        if now:
            frames += [part for part in now if part]
        elif state in ("hypervisor", "polling", "vmm"):
            frames.append(plain(row["detail"]) or "unknown")
        if state == "preempted":
            frames.append(plain(row["detail"]) or "unknown")
        sums[names[last] + tuple(frames)] += ns
    chosen = {names[row["vcpu"]] for row in table(window, "interval")}
    return collections.Counter({key: ns for key, ns in sums.items() if key[:2] in chosen})


def folded(path):
    sums = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, ns = line.rstrip("\n").rpartition(" ")
            frames = tuple(frame.replace("\\x3b", ";") for frame in stack.split(";"))
            if frames in sums or int(ns) <= 0 or len(frames) < 3:
                fail("a stack twice, or of nothing:", line)
            sums[frames] += int(ns)
    return sums


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_schema(document):
    """What file-format-schema.json wants of a file with sampled profiles."""
    if document["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        fail("$schema", document["$schema"])
    if set(document) - {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}:
        fail("members", set(document))
    frames = document["shared"]["frames"]
    for frame in frames:
        if not isinstance(frame["name"], str) or set(frame) - {"name", "file", "line", "col"}:
            fail("frame", frame)
    for profile in document["profiles"]:
        if set(profile) != {"type", "name", "unit", "startValue", "endValue", "samples", "weights"} or \
                profile["type"] != "sampled" or profile["unit"] != "nanoseconds" or \
                not isinstance(profile["name"], str):
            fail("profile", {key: profile[key] for key in profile if key not in ("samples", "weights")})
        if not all(map(is_number, [profile["startValue"], profile["endValue"], *profile["weights"]])):
            fail("a value of", profile["name"], "is no number")
        if len(profile["samples"]) != len(profile["weights"]):
            fail("samples and weights of", profile["name"])
        if any(type(i) is not int or not 0 <= i < len(frames) for stack in profile["samples"]
               for i in stack):
            fail("a frame of", profile["name"])


def speedscope(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    check_schema(document)
    names = [frame["name"] for frame in document["shared"]["frames"]]
    sums = collections.Counter()
    for profile in document["profiles"]:
        if profile["endValue"] - profile["startValue"] != sum(profile["weights"]):
            fail("endValue of", profile["name"])
        for stack, ns in zip(profile["samples"], profile["weights"]):
            sums[(profile["name"], *(names[i] for i in stack))] += ns
    return sums


def report_times(path, with_guest):
    """Time by state of report, without what it calls unknown."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return {(machine["machine"], vcpu["vcpu"], state): stretches["total_ns"]
            for machine in report["machines"] for vcpu in machine["vcpus"]
            for state, stretches in vcpu["states"].items()
            if stretches and stretches.get("total_ns") and (with_guest or state != "guest")}


def differ(what, found, wanted):
    for key in sorted(set(found) | set(wanted)):
        if found[key] != wanted[key]:
            fail(what, key, found[key], "instead of", wanted[key])


def main():
    with_guest = sys.argv[6:] == ["guest"]
    found = folded(sys.argv[1])
    differ("folded:", found, recount(sys.argv[4], sys.argv[5], with_guest))
    without_machine = collections.Counter()
    for key, ns in found.items():
        without_machine[key[1:]] += ns
    differ("speedscope:", speedscope(sys.argv[2]), without_machine)
    states = collections.Counter()
    for key, ns in found.items():
        states[key[:2] + (key[2].replace(" (unsplit)", ""),)] += ns
    for key, ns in report_times(sys.argv[3], with_guest).items():
        if states[key] != ns:
            fail("report:", key, ns, "and not", states[key])
    print(len(found))


main()
