#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare who runs, record by record, with what xenalyze says.

Usage: xenalyze_compare.py DUMP.csv XENALYZE.txt HZ

DUMP.csv comes from "kshark-virt dump --format csv", XENALYZE.txt from "xenalyze --dump-all", both
with the same frequency. A record is found again by its pCPU and its time as xenalyze computes it:
its clock factor is cut to an integer, and time 0 is the loss if the trace begins with one. Records
of one pCPU with the same TSC cannot be told apart; one of them must fit.

Differences that are known and meant, each counted and printed:
  to-running  on the very record that puts a vCPU on the pCPU, xenalyze says d?v?, we say that vCPU
  beginning   before a pCPU's first scheduling record, xenalyze invents domain 32768; we say unknown
  leaving     a pCPU's first scheduling record takes a vCPU off, or is the switch: it tells who ran
  lost        on the record of the loss itself xenalyze has the vCPU from before, we the one after
Everything else is a failure.
"""
import collections
import csv
import re
import sys

LINE = re.compile(r"^[\] ] *(\d+)\.(\d{9}) ([^ ]+) d(\d+|\?)v(\d+|\?) (.*)$")


def ours(path, hz):
    """(pcpu, xenalyze's time in ns) -> rows in order"""
    factor = (hz << 10) // 10**9
    rows = collections.defaultdict(list)
    first = None
    for row in csv.DictReader(open(path, newline="")):
        tsc = int(row["tsc"])
        if first is None:
            lost = re.search(r"first_tsc=(\d+)", row["info"])
            first = int(lost[1]) if lost else tsc
        rows[int(row["pcpu"]), ((tsc - first) << 10) // factor].append(row)
    return rows


def theirs(path):
    lines = collections.defaultdict(list)
    for text in open(path, errors="replace"):
        m = LINE.match(text)
        if not m or m[3].count("x") != 1:
            continue
        # the place of the x is the pCPU's number
        lines[m[3].index("x"), int(m[1]) * 10**9 + int(m[2])].append((m[4], m[5], m[6]))
    return lines


def explain(row, did):
    """Why xenalyze says something else; None if it should not."""
    event = row["event"]
    if did == "?" and event.endswith("_to_running"):
        return "to-running"
    if did == "32768":
        if not row["domid"]:
            return "beginning"
        if event.startswith("running_to_") or event in ("__enter_scheduler", "continue_running"):
            return "leaving"
    if event == "lost_records":
        return "lost"
    return None


def main():
    rows, lines = ours(sys.argv[1], int(sys.argv[3])), theirs(sys.argv[2])
    seen = collections.Counter()
    failures = 0
    for key, said in lines.items():
        if key not in rows:
            failures += 1
            if failures < 20:
                print("only xenalyze has this:", key, said)
            continue
        for did, vid, text in said:
            seen["compared"] += 1
            if (did, vid) in ((r["domid"], r["vcpu"]) for r in rows[key]):
                seen["same"] += 1
                continue
            why = [w for w in (explain(r, did) for r in rows[key]) if w]
            if why:
                seen[why[0]] += 1
                continue
            failures += 1
            if failures < 20:
                print("differs:", key, "d%sv%s" % (did, vid), text, [
                    (r["tsc"], r["domid"], r["vcpu"], r["event"]) for r in rows[key]])
    missing = sum(1 for key in rows if key not in lines)
    print(*("%s %d" % item for item in sorted(seen.items())), "failures %d" % failures,
          "not printed by xenalyze %d" % missing, sep=", ")
    return failures > 0 or seen["same"] < 1000


sys.exit(main())
