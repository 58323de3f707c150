# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare who runs, record by record, with what xenalyze says (see xenalyze.py).

One of several equal records must fit.

Differences that are known and meant, each counted and printed:
  to-running  on the very record that puts a vCPU on the pCPU, xenalyze says d?v?, we say that vCPU
  beginning   up to a pCPU's first scheduling record, xenalyze invents domain 32768; we say who that
              record shows has been there, worked out here from the records alone
  lost        on the record of the loss itself xenalyze has the vCPU from before, we the one after
Everything else is a failure.
"""
import collections


def first_there(rows):
    """Who was on each pCPU, by its first record of the scheduler: pCPU -> (domain, vCPU)"""
    firsts = {}
    for row in sorted((r for same in rows.values() for r in same), key=lambda r: r["tsc"]):
        fields, event = row["fields"], row["event"]
        if row["pcpu"] in firsts:
            continue
        if event == "lost_records":
            firsts[row["pcpu"]] = None, None
        elif event.startswith("running_to_") or event == "continue_running":
            firsts[row["pcpu"]] = fields["vcpu"] >> 16, fields["vcpu"] & 0xffff
        elif event == "__enter_scheduler":
            firsts[row["pcpu"]] = fields["prev_domid"], fields["prev_vcpu"]
    return firsts


def explain(row, did, firsts):
    """Why xenalyze says something else; None if it should not."""
    event = row["event"]
    if did == "?" and event.endswith("_to_running"):
        return "to-running"
    if did == "32768" and (row["domid"], row["vcpu"]) == firsts.get(row["pcpu"]):
        return "beginning"
    if event == "lost_records":
        return "lost"
    return None


def compare(rows, lines):
    """Compare and print what differs; rows of xenalyze.ours(), lines of theirs(). Returns failures."""
    seen = collections.Counter()
    found = set()
    failures = 0
    firsts = first_there(rows)
    for said in lines:
        if not said.key or said.domid is None:
            continue
        if said.key not in rows:
            failures += 1
            if failures < 20:
                print("only xenalyze has this:", said.line)
            continue
        found.add(said.key)
        seen["compared"] += 1
        # "?" is no vCPU, which no record has
        domid, vcpu = (-1 if text == "?" else int(text) for text in (said.domid, said.vcpu))
        if any(r["domid"] == domid and r["vcpu"] == vcpu for r in rows[said.key]):
            seen["same"] += 1
            continue
        why = [w for w in (explain(r, said.domid, firsts) for r in rows[said.key]) if w]
        if why:
            seen[why[0]] += 1
            continue
        failures += 1
        if failures < 20:
            print("differs:", said.line, [
                (r["tsc"], r["domid"], r["vcpu"], r["event"]) for r in rows[said.key]])
    print(*("%s %d" % item for item in sorted(seen.items())), "failures %d" % failures,
          "not printed by xenalyze %d" % (len(rows) - len(found)), sep=", ")
    return failures + (seen["same"] < 1000)
