#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits for locks and futexes, by "report --locks": laws, a recount of trace-cmd's text, and sums of windows.

usage: as in work_lib.py
"""
import collections
import re

from trace_text import records
from work_lib import check_csv, main, side

SPIN, READ, WRITE, MUTEX = 1, 2, 4, 32
KINDS = {0: "semaphore", SPIN: "spinlock", SPIN | READ: "rwlock read", SPIN | WRITE: "rwlock write", READ: "rwsem read",
         WRITE: "rwsem write", MUTEX: "mutex", SPIN | MUTEX: "mutex"}
# linux/futex.h: FUTEX_WAIT, _WAIT_BITSET; _LOCK_PI, _WAIT_REQUEUE_PI, _LOCK_PI2
FUTEX_WAITS = {0: "futex", 9: "futex", 6: "pi futex", 11: "pi futex", 13: "pi futex"}
SUMS = "waits", "failed"


def check_laws(document, rows):
    """Machines and tasks have each wait once."""
    for trace in document["traces"]:
        for number, futexes in ("waits", False), ("futex_waits", True):
            assert (trace[number] or 0) == sum(row["waits"] for row in trace["locks"]
                                               if row["kind"].endswith("futex") == futexes), (number, trace["trace"])
        for part in "machines", "tasks":
            ours, theirs = collections.Counter(), collections.Counter()
            for sums, key in (ours, part), (theirs, "locks"):
                for row in trace[key]:
                    name = row["lock"], row["kind"]
                    for number in SUMS:
                        sums[name, number] += row[number]
                    sums[name, "known"] += row["waited"]["count"]
                    sums[name, "ns"] += row["waited"]["total_ns"]
            assert ours == theirs, (part, ours, theirs)
        for row in trace["locks"]:
            same = [task for task in trace["tasks"] if (task["lock"], task["kind"]) == (row["lock"], row["kind"])]
            assert row["waiters"] == len(same), (row, same)
    return check_csv(document, rows, ("locks", "machines", "tasks"), lambda section, one: section[:-1])


def take_futex(waiting, waits, ns, pid, name, text, gap):
    """A system call of a task at a time; its end does not name the futex."""
    if name == "sys_enter_futex":
        waiting.pop((pid, "futex"), None)
        address, op = (int(re.search(key + r"=(\w+)", text)[1], 0) for key in ("uaddr", "op"))
        if op & 127 in FUTEX_WAITS:
            waiting[pid, "futex"] = {"lock": hex(address), "kind": FUTEX_WAITS[op & 127], "pid": pid, "from": ns,
                                     "ns": None}
            waits.append(waiting[pid, "futex"])
    elif (pid, "futex") in waiting:
        wait = waiting.pop((pid, "futex"))
        if side(wait["from"], gap) == side(ns, gap) != 1:
            wait["ns"] = ns - wait["from"]


def check_text(document, path, gap):
    """A wait is known if it begins and ends on the same side of the gap, and not in it."""
    waiting, waits, strangers = {}, [], 0
    for ns, pid, cpu, name, text in records(path):
        if name.endswith("_futex"):
            take_futex(waiting, waits, ns, pid, name, text, gap)
        if not name.startswith("contention_"):
            continue
        lock, number = re.match(r"lock_addr=(\w+) \w+=(\S+)", text).groups()
        key, number = (pid, 0 if pid else cpu, int(lock, 16)), int(number, 0)
        if name == "contention_begin":
            if key in waiting and side(waiting[key]["from"], gap) == side(ns, gap) and number & MUTEX:
                continue
            waiting[key] = {"lock": lock, "kind": KINDS[number], "pid": pid, "from": ns, "ns": None}
            waits.append(waiting[key])
        elif key in waiting:
            wait = waiting.pop(key)
            if side(wait["from"], gap) == side(ns, gap) != 1:
                wait["ns"] = ns - wait["from"]
        else:
            strangers += 1
    trace = document["traces"][0]
    assert trace["waits"] + (trace["futex_waits"] or 0) == len(waits), len(waits)
    assert trace["begun_before"] == strangers, strangers
    for section, keys in ("locks", ("lock", "kind")), ("tasks", ("lock", "kind", "pid")):
        ours = {tuple(row[key] for key in keys): row for row in trace[section]}
        theirs = collections.defaultdict(list)
        for wait in waits:
            theirs[tuple(wait[key] for key in keys)].append(wait["ns"])
        assert set(ours) == set(theirs), (set(ours) ^ set(theirs))
        for key, times in theirs.items():
            known = sorted(ns for ns in times if ns is not None)
            row = ours[key]
            assert (row["waits"], row["waited"]["count"], row["waited"]["total_ns"]) == \
                (len(times), len(known), sum(known)), (row, times)
            if known:
                assert (row["waited"]["min_ns"], row["waited"]["max_ns"]) == (known[0], known[-1]), (row, known)
    return len(waits)


def check_sums(whole, parts):
    for trace in whole["traces"]:
        ours, theirs = collections.Counter(), collections.Counter()
        for sums, documents in (ours, [whole]), (theirs, parts):
            for document in documents:
                for row in document["traces"][0]["tasks"]:
                    name = row["lock"], row["kind"], row["pid"]
                    for number in SUMS:
                        sums[name, number] += row[number]
                    sums[name, "ns"] += row["waited"]["total_ns"]
        assert ours == theirs, (trace["trace"], ours, theirs)
    return len(ours)


main(check_laws, check_text, check_sums)
