#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long credit2's cap holds vCPUs, recounted from the records of a xentrace file.

usage: holds_oracle.py TRACE HZ FOLDER	FOLDER has why.json, worst.csv, tables/ and check.json
"""
import csv
import json
import os
import struct
import sys

CPU_CHANGE, LOST, BURN = 0x1f003, 0x1f001, 0x22203
TO_OFFLINE, FROM_OFFLINE = 0x21031, (0x21301, 0x21311, 0x21321)


def records(path):
    """(TSC, pCPU, event, words) as they are in the file."""
    data = open(path, "rb").read()
    at, pcpu = 0, None
    while at + 4 <= len(data):
        head, = struct.unpack_from("<I", data, at)
        n, has_tsc, at = head >> 28 & 7, head >> 31, at + 4
        tsc = struct.unpack_from("<Q", data, at)[0] if has_tsc else None
        at += 8 * has_tsc
        words = struct.unpack_from(f"<{n}I", data, at)
        at += 4 * n
        if head & 0xfffffff == CPU_CHANGE:
            pcpu = words[0]
            continue
        assert head & 0xfffffff != LOST
        yield tsc, pcpu, head & 0xfffffff, words


def holds_of(path, hz):
    """By vCPU, (begin, length) in ns, of a burn that left no budget, then a pause; does the last one have no end?"""
    ordered = sorted((record for record in records(path) if record[0] is not None), key=lambda record: record[0])
    first, spent, begun, holds = ordered[0][0], set(), {}, {}
    for tsc, _, event, words in ordered:
        if event == BURN:
            budget = struct.unpack("<i", struct.pack("<I", words[2]))[0]
            (spent.add if -2**31 < budget <= 0 else spent.discard)(words[0])
        elif event == TO_OFFLINE and words[0] in spent:
            begun[words[0]] = tsc
        elif event in FROM_OFFLINE and words[0] in begun:
            start = begun.pop(words[0])
            holds.setdefault(words[0], []).append(((start - first) * 10**9 // hz, (tsc - start) * 10**9 // hz))
    for vcpu, start in begun.items():
        holds.setdefault(vcpu, []).append(((start - first) * 10**9 // hz, (tsc - start) * 10**9 // hz))
    return holds, bool(begun)


def near(found, expected):
    assert len(found) == len(expected), (found, expected)
    assert all(abs(a - b) <= 2 for a, b in zip(found, expected)), (found, expected)


def main():
    trace, hz, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    holds, is_open = holds_of(trace, hz)
    assert list(holds) == [1 << 16], holds
    lengths = [length for _, length in holds[1 << 16]]
    assert len(lengths) > 5
    longest = sorted(lengths, reverse=True)

    with open(os.path.join(folder, "why.json"), encoding="utf-8") as file:
        answers = json.load(file)["answers"]
    segments = [answer["segments"][0] for answer in answers]
    assert all(s["kind"] == "offline" and s["evidence"] for s in segments)
    held = [s for s in segments if s["cause"] == "limit"]
    near([s["held_ns"] for s in held], longest)
    assert all(s["held_ns"] == s["to_ns"] - s["from_ns"] for s in held)
    assert not any("held_ns" in s for s in segments if s["cause"] != "limit")

    with open(os.path.join(folder, "worst.csv"), encoding="utf-8") as file:
        worst = list(csv.DictReader(file))
    near([int(row["held_ns"]) for row in worst if row["what"] == "held by its cap"], longest)

    with open(os.path.join(folder, "tables", "interval.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    waits = "preempted", "waking", "offline"
    assert all((row["held_ns"] != "") == (row["state"] in waits) for row in rows)
    near([int(row["held_ns"]) for row in rows if row["held_ns"] not in ("", "0")], lengths)

    with open(os.path.join(folder, "check.json"), encoding="utf-8") as file:
        limits = {row["limit_of"]: row for row in json.load(file)["limits"] if row["of"] == "d1"}
    assert all(row["result"] == "exceeded" for row in limits.values())
    assert limits["held.count"]["value"] == len(lengths)
    near([limits["held.max"]["value"]], longest[:1])
    whole = sorted(lengths[:-1] if is_open else lengths)
    near([limits["held.p50"]["value"]], [whole[(len(whole) + 1) // 2 - 1]])
    known = sum(int(row["end_ns"]) - int(row["start_ns"]) for row in rows
                if row["state"] != "unknown" and row["vcpu"] == held_vcpu(rows))
    assert abs(limits["held"]["value"] - 100 * sum(lengths) / known) < 0.001, limits["held"]


def held_vcpu(rows):
    """The vCPU of the table that is held."""
    vcpus = {row["vcpu"] for row in rows if row["held_ns"] not in ("", "0")}
    assert len(vcpus) == 1
    return vcpus.pop()


main()
