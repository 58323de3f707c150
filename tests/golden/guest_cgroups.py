# SPDX-License-Identifier: LGPL-2.1-or-later
"""Have the cgroups of a guest the time of their tasks, by what trace-cmd prints of its trace?

    guest_cgroups.py TEXT REPORT.json REPORT.csv

TEXT is trace-cmd's, with all digits of the times. Who has a CPU, which task makes which, and who enters a cgroup are
found in it once more; what is believed has to be the same to the ns. Prints what the cgroups are called.
"""
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"^\s*(\S.*)-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+)\.(\d{9}):\s+(\w+):\s+(.*)$")
SWITCH = re.compile(r"(?:==> .*:|next_pid=)(\d+)")
BORN = re.compile(r"(?:^.*:|pid=)(\d+) ")

runs, steps, last = [], [], {}
for line in open(sys.argv[1], errors="replace"):
    found = LINE.match(line)
    if not found:
        continue
    _, pid, cpu, seconds, ns, event, rest = found.groups()
    time, pid = int(seconds) * 10**9 + int(ns), int(pid)
    begin, who = last.get(cpu, (time, pid))[:2]
    if event == "sched_switch":
        runs.append((begin, time, who))
        begin, who = time, int(SWITCH.search(rest).group(1))
    elif event == "sched_wakeup_new":
        steps.append((time, int(BORN.search(rest).group(1)), pid, None))
    elif event == "cgroup_attach_task":
        steps.append((time, int(re.search(r" pid=(\d+)", rest).group(1)), None,
                      re.search(r"dst_path=(\S+)", rest).group(1)))
    last[cpu] = begin, who, time
runs += [(begin, time, who) for begin, who, time in last.values()]

now, changes = {}, collections.defaultdict(list)
for time, pid, maker, path in sorted(steps, key=lambda step: step[0]):
    now[pid] = now.get(maker) if maker is not None else path
    changes[pid].append((time, now[pid]))

report = json.load(open(sys.argv[2]))
begin, end = report["window_ns"]
believed = collections.Counter()
for start, stop, pid in runs:
    start, stop = max(start, begin), min(stop, end)
    if not pid or start >= stop:
        continue
    cuts = [start] + [time for time, _ in changes[pid] if start < time < stop] + [stop]
    for a, b in zip(cuts, cuts[1:]):
        of = [path for time, path in changes[pid] if time <= a]
        believed[of[-1] if of else None] += b - a

guest, = report["guests"]
reported = {cgroup.get("name"): cgroup["believed_ns"] for cgroup in guest["cgroups"]}
assert reported == dict(believed), (reported, believed)
for task in guest["tasks"]:
    of = [path for time, path in changes[task["pid"]] if time < end]
    assert task.get("cgroup") == (of[-1] if of else None), task
# all of them together are all tasks together
states = [collections.Counter(), collections.Counter()]
for i, sums in enumerate((guest["cgroups"], [task for task in guest["tasks"] if task["pid"]])):
    for part in sums:
        states[i].update({state: ns for state, ns in part["states_ns"].items() if isinstance(ns, int)})
        assert part["executed_ns"] == sum(p["executed_ns"] for p in part["pcpus"]) == part["states_ns"]["guest"]
assert states[0] == states[1], states
rows = collections.Counter()
for row in csv.DictReader(open(sys.argv[3])):
    if row["section"].startswith("guest_cgroup"):
        rows[row["section"], row["name"]] += int(row["total_ns"])
wanted = collections.Counter()
for cgroup in guest["cgroups"]:
    name = cgroup.get("name", "unknown")
    wanted["guest_cgroup_believed", name] += cgroup["believed_ns"]
    wanted["guest_cgroup_executed", name] += cgroup["executed_ns"]
    wanted["guest_cgroup_steal", name] += cgroup["steal_ns"]
    for pcpu in cgroup["pcpus"]:
        where = "p%d" % pcpu["pcpu"] if "pcpu" in pcpu else "unknown"
        wanted["guest_cgroup_pcpu", "%s on %s" % (name, where)] += pcpu["executed_ns"]
assert +rows == +wanted, (rows, wanted)
print(*sorted(name or "unknown" for name in reported))
