# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the tasks of guests have all the time that their vCPUs have, and nothing else?

    guest_tasks.py REPORT.json REPORT.csv [complete]

Each task's states are what it believes, and its pCPUs what was executed; CSV has the same. "complete": the
guests' traces cover all of the window, so that all tasks together are all vCPUs together, state by state.
Prints how many tasks there were.
"""
import collections
import csv
import json
import sys

report = json.load(open(sys.argv[1]))
rows = collections.Counter()
for row in csv.DictReader(open(sys.argv[2])):
    if row["section"].startswith("guest_task"):
        rows[row["section"], row["machine"], row["name"]] += int(row["total_ns"])
begin, end = report["window_ns"]
states, pcpus, believed, wanted, n, vcpus = (collections.Counter() for _ in range(6))
for guest in report["guests"]:
    reported = collections.Counter()
    for task in guest["tasks"]:
        where = {p.get("pcpu"): p["executed_ns"] for p in task["pcpus"]}
        known = {state: ns for state, ns in task["states_ns"].items() if isinstance(ns, int)}
        assert sum(known.values()) <= task["believed_ns"], task
        assert sum(where.values()) == task["executed_ns"] == task["states_ns"]["guest"], task
        assert task["steal_ns"] == task["states_ns"]["preempted"], task
        assert all(where.values()) and list(where.values()) == sorted(where.values(), reverse=True), task
        states.update(known)
        pcpus.update(where)
        believed[guest["file"]] += task["believed_ns"]
        reported["guest_task_believed", guest["file"], task["name"]] += task["believed_ns"]
        reported["guest_task_executed", guest["file"], task["name"]] += task["executed_ns"]
        reported["guest_task_steal", guest["file"], task["name"]] += task["steal_ns"]
        for pcpu, ns in where.items():
            name = "%s on %s" % (task["name"], "unknown" if pcpu is None else "p%d" % pcpu)
            reported["guest_task_pcpu", guest["file"], name] += ns
        n[""] += 1
    assert +reported == +collections.Counter({k: ns for k, ns in rows.items() if k[1] == guest["file"]})
    named = [c["vcpu"] for c in guest["cpus"] if "vcpu" in c]
    vcpus.update(named)
    wanted[guest["file"]] = len(named) * (end - begin)
if "complete" in sys.argv[3:]:
    assert believed == wanted, (believed, wanted)
    of_vcpus, of_pcpus = collections.Counter(), collections.Counter()
    for vcpu in (v for m in report["machines"] for v in m["vcpus"] if v["vcpu"] in vcpus):
        of_vcpus.update({state: reported["total_ns"] for state, reported in vcpu["states"].items()})
        of_pcpus.update({int(pcpu): ns for pcpu, ns in vcpu["pcpus_ns"].items()})
    assert +states == +of_vcpus, (states, of_vcpus)
    assert all(ns <= of_pcpus[pcpu] for pcpu, ns in pcpus.items()), (pcpus, of_pcpus)
print(n[""])
