#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests to disks, by "report --disks": laws, a recount of trace-cmd's text, and sums of windows.

usage: as in work_lib.py
"""
import collections
import re

from trace_text import records
from work_lib import check_csv, main, side

SUMS = "requests", "bytes", "failed", "sequential", "seeks", "seek_bytes"
OPERATIONS = {"R": "read", "W": "write", "D": "discard", "F": "flush"}


def check_laws(document, rows):
    """Operations, machines and tasks have each request of a disk once."""
    for trace in document["traces"]:
        every = {row["disk"]: row for row in trace["disks"] if row["operation"] == "all"}
        assert trace["requests"] == sum(row["requests"] for row in every.values()), trace["trace"]
        assert trace["begun_before"] == sum(row["begun_before"] for row in every.values()), trace["trace"]
        for row in trace["disks"]:
            assert ("merges" in row) == ("begun_before" in row) == (row["operation"] == "all"), row
        parts = [row for row in trace["disks"] if row["operation"] != "all"]
        for rows_of in parts, trace["machines"], trace["tasks"]:
            for disk, row in every.items():
                some = [part for part in rows_of if part["disk"] == disk]
                for key in SUMS:
                    assert sum(part[key] for part in some) == row[key], (disk, key)
                for key in "duration", "queue":
                    if row[key] is None:
                        continue
                    for number in "count", "total_ns":
                        assert sum(part[key][number] for part in some) == row[key][number], (disk, key)
                assert max((part["depth_max"] or 0 for part in some), default=0) == (row["depth_max"] or 0), disk
                assert row["duration"]["count"] <= row["requests"] >= row["sequential"] + row["seeks"], row
    return check_csv(document, rows, ("disks", "machines", "tasks", "interruptions"), lambda section, one:
                     "operation" if one.get("operation", "all") != "all" else section[:-1])


def events_of(path):
    """(ns, pid, name, disk, sector, sectors, bytes, operation, error) of each line."""
    for ns, pid, _, name, text in records(path):
        if not name.startswith("block_"):
            continue
        fields = dict(re.findall(r"\b(dev|sector|nr_sector|bytes|error|rwbs)=(-?\w+)", text))
        device, letters = int(fields["dev"]), fields["rwbs"]
        letter = letters[1] if letters[0] == "F" and len(letters) > 1 else letters[0]
        yield (ns, pid, name, "%d:%d" % (device >> 20, device & 0xfffff), int(fields["sector"]),
               int(fields["nr_sector"]), int(fields.get("bytes", 0)), OPERATIONS.get(letter, "other"), int(fields.get("error", 0)))


def recount(path, gap):
    """Each request as a dictionary: without places, by searching lists."""
    queued, flying, done, merges, before = [], [], [], collections.Counter(), collections.Counter()
    strangers = []      # (disk, end) of requests that were in flight before they were seen

    for ns, pid, name, disk, sector, sectors, size, operation, error in events_of(path):
        place = (disk, sector) if sectors else (disk, operation)
        if name == "block_rq_insert":
            again = [one for one in queued if one["place"] == place and one["again"] and one["side"] == side(ns, gap)]
            if again:
                again[-1]["again"] = False
            else:
                queued.append({"place": place, "ns": ns, "pid": pid, "side": side(ns, gap), "again": False})
        elif name == "block_rq_issue":
            waits = [one for one in queued if one["place"] == place]
            wait = waits[-1] if waits else None
            if wait:
                queued.remove(wait)
            if wait and wait["side"] != side(ns, gap):
                wait = None
            one = {"place": place, "disk": disk, "issue": ns, "operation": operation, "bytes": size, "side": side(ns, gap),
                   "pid": wait["pid"] if wait else pid, "left": sectors, "failed": False, "end": None, "seen": None,
                   "queue": ns - wait["ns"] if wait and side(ns, gap) != 1 else None, "sector": sector,
                   "vague": False, "sectors": sectors}
            for other in flying:
                if other["place"] == place:
                    other["vague"] = one["vague"] = True
            flying.append(one)
            done.append(one)
        elif name == "block_rq_requeue":
            one = [one for one in flying if one["place"] == place][-1]
            flying.remove(one)
            done.remove(one)
            queued.append({"place": place, "ns": one["issue"] - (one["queue"] or 0), "pid": one["pid"],
                           "side": side(ns, gap), "again": True})
        elif name == "block_rq_complete":
            ends = [one for one in flying if one["place"] == place]
            if not ends:
                if sectors or operation == "flush":
                    before[disk] += 1
                    strangers.append((disk, ns, side(ns, gap)))
                continue
            one = ends[-1]
            one["failed"] |= error != 0
            one["left"] -= sectors
            if one["left"] > 0 and sectors:
                one["place"] = (disk, sector + sectors)
                continue
            flying.remove(one)
            one["seen"] = ns
            if one["side"] != side(ns, gap):
                strangers.append((disk, ns, side(ns, gap)))
            elif side(ns, gap) != 1 and not one["vague"]:
                one["end"] = ns
        else:
            merges[disk] += 1
            if name == "block_bio_frontmerge":
                for one in queued:
                    if one["place"] == (disk, sector + sectors):
                        one["place"] = place
            elif name == "block_rq_merge":
                queued = [one for one in queued if one["place"] != place]
    add_places(done, strangers)
    return done, merges, before


def add_places(done, strangers):
    """Depth by counting who is there; seeks by the request before."""
    for at, one in enumerate(done):
        one["depth"], one["seek"], one["by"] = None, None, None
        if one["side"] == 1:
            continue
        same = [other for other in done if other["disk"] == one["disk"] and other["side"] == one["side"]]
        one["depth"] = sum(other["issue"] <= one["issue"] and (other["seen"] is None or other["seen"] > one["issue"])
                           for other in same)
        one["depth"] += sum(disk == one["disk"] and side == one["side"] and ns > one["issue"]
                            for disk, ns, side in strangers)
        moves = [other for other in same if other["sectors"] and other["operation"] in ("read", "write")]
        if one not in moves:
            continue
        moves = moves[:moves.index(one)]
        if moves:
            last = moves[-1]
            one["seek"] = abs(one["sector"] - last["sector"] - last["bytes"] // 512) * 512
            own = [other for other in moves if other["pid"] == one["pid"]]
            if one["seek"] and own and last["pid"] != one["pid"] and \
                    own[-1]["sector"] + own[-1]["bytes"] // 512 == one["sector"]:
                one["by"] = last["pid"]


def compare(row, some):
    durations = sorted(one["end"] - one["issue"] for one in some if one["end"] is not None)
    queues = sorted(one["queue"] for one in some if one["queue"] is not None)
    depths = [one["depth"] for one in some if one["depth"]]
    seeks = [one["seek"] for one in some if one["seek"]]
    theirs = {
        "requests": len(some), "bytes": sum(one["bytes"] for one in some), "failed": sum(one["failed"] for one in some),
        "sequential": sum(one["seek"] == 0 for one in some), "seeks": len(seeks), "seek_bytes": sum(seeks),
        "depth_max": max(depths, default=None),
    }
    for key, value in theirs.items():
        assert row[key] == value, (key, value, row)
    if depths:
        assert abs(row["depth_mean"] - sum(depths) / len(depths)) < 1e-5, row
    for key, times in ("duration", durations), ("queue", queues):
        assert row[key]["count"] == len(times) and row[key]["total_ns"] == sum(times), (key, times, row)
        if times:
            assert (row[key]["min_ns"], row[key]["max_ns"]) == (times[0], times[-1]), (key, row)
            assert row[key]["p50_ns"] == times[(len(times) - 1) // 2], (key, row)


def check_text(document, path, gap):
    trace = document["traces"][0]
    done, merges, before = recount(path, gap)
    compared = 0
    for row in trace["disks"]:
        some = [one for one in done if one["disk"] == row["disk"] and row["operation"] in ("all", one["operation"])]
        if row["operation"] == "all":
            assert row["merges"] in (None, merges[row["disk"]]), row
            assert row["begun_before"] == before[row["disk"]], (row, before)
        compare(row, some)
        compared += len(some)
    for row in trace["tasks"]:
        compare(row, [one for one in done if one["disk"] == row["disk"] and one["pid"] == row["pid"]])
    assert {(row["disk"], row["pid"]) for row in trace["tasks"]} == {(one["disk"], one["pid"]) for one in done}
    pairs = collections.Counter((one["disk"], one["pid"], one["by"]) for one in done if one["by"])
    assert {(row["disk"], row["pid"], row["by_pid"]): row["count"] for row in trace["interruptions"]} == pairs, pairs
    return compared


def check_sums(whole, parts):
    for trace in whole["traces"]:
        for disk in trace["disks"]:
            rows = [row for part in parts for other in part["traces"] for row in other["disks"]
                    if other["trace"] == trace["trace"] and (row["disk"], row["operation"]) ==
                    (disk["disk"], disk["operation"])]
            for key in SUMS:
                assert sum(row[key] for row in rows) == disk[key], (key, disk)
            for key in "count", "total_ns":
                assert sum(row["duration"][key] for row in rows) == disk["duration"][key], (key, disk)
    return len(whole["traces"])


main(check_laws, check_text, check_sums)
