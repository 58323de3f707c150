#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a CPU quota holds vCPUs, recounted from the text of trace-cmd.

usage: quota_oracle.py TEXT SIDECAR FOLDER [alone]	TEXT is what "trace-cmd report -t" prints; FOLDER has report.json,
							why.json, tables/ and worst.csv; alone: only vCPUs use the
							quota, and do not sleep; else the host is idle
"""
import csv
import json
import re
import sys

SWITCH = re.compile(r"(\S.*):(\d+) \[\d+\] (\S+) ==> (\S.*):(\d+) \[\d+\]")
LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\S*\s+(?:\S+\s+)?(\d+)\.(\d{9}): (\w+):\s*(.*)$")


def records(path):
    """(time, CPU, event, its text, thread)"""
    for line in open(path, encoding="utf-8", errors="replace"):
        match = LINE.match(line)
        if match:
            yield int(match[4] + match[5]), int(match[3]), match[6], match[7], int(match[2])


class Wait:
    """Of a vCPU: for a pCPU, since a time; since when that had nothing to do, and until when, and who left it since."""

    def __init__(self, since, cpu, woken):
        self.since, self.cpu, self.woken = since, cpu, woken
        self.held_since = self.idle = self.busy = None


def holds_of(path, vcpus, machine):
    """(held, possible) pieces by tid, and how much of held is preempted. Each of the vCPUs is looked at with each record: slow, and simple."""
    waits, left, expiries = {}, {}, []
    held, possible = {tid: [] for tid in vcpus}, {tid: [] for tid in vcpus}
    preempted, end = [0], 0

    def finish(tid, now, ends):
        wait = waits.pop(tid, None)
        if not wait:
            return
        inside = [time for time in expiries if wait.since < time <= now]
        if ends and not inside:
            return
        last, at = inside[-1] if ends else now, wait.since
        if wait.idle is not None:
            after = [time for time in inside if time >= wait.idle]
            if after or not ends:
                # the pCPU had nothing to do until the last of these
                idle = [time for time in after if wait.busy is None or time < wait.busy]
                until = idle[-1] if idle else after[0] if after else now
                if wait.held_since > wait.since:
                    possible[tid].append((wait.since, wait.held_since))
                held[tid].append((wait.held_since, until))
                preempted[0] += 0 if wait.woken else until - wait.held_since
                at = until
        if last > at:
            possible[tid].append((at, last))

    for now, cpu, event, text, _ in records(path):
        end = now
        if event == "hrtimer_expire_entry" and ("sched_cfs_period_timer" in text or "sched_cfs_slack_timer" in text):
            expiries.append(now)
        elif event == "sched_wakeup":
            tid, target = int(re.search(r":(\d+) \[", text)[1]), re.search(r"CPU:(\d+)", text)
            if tid in vcpus and tid not in waits and vcpus[tid] == "asleep":
                waits[tid] = Wait(now, int(target[1]), True)
        elif event == "sched_migrate_task":
            tid, target = int(re.search(r"pid=(\d+)", text)[1]), int(re.search(r"dest_cpu=(\d+)", text)[1])
            assert tid not in vcpus, "each vCPU has a pCPU of its own"
        elif event == "sched_switch":
            match = SWITCH.match(text)
            before, state, after = int(match[2]), match[3], int(match[5])
            if before in machine:
                left[cpu] = now
            if after in vcpus:
                finish(after, now, True)
                vcpus[after] = "runs"
            if before in vcpus:
                vcpus[before] = "waits" if state[0] == "R" else "asleep"
                if state[0] == "R":
                    waits[before] = Wait(now, cpu, False)
            for wait in waits.values():
                if wait.cpu == cpu and after == 0:
                    wait.held_since = max(wait.since, left.get(cpu, 0)) if wait.idle is None else wait.held_since
                    wait.idle = now
                    wait.busy = None
                elif wait.cpu == cpu and before == 0:
                    wait.busy = now
    for tid in list(waits):
        finish(tid, end + 1, False)
    return held, possible, preempted[0]


def total(pieces):
    return sum(end - begin for begin, end in pieces)


def waits_of(path, threads):
    """How long some thread of a machine waited for each pCPU, all pCPUs together."""
    since, pieces, ns = {}, {}, 0
    for now, cpu, event, text, _ in records(path):
        if event == "sched_switch":
            match = SWITCH.match(text)
            before, state, after = int(match[2]), match[3], int(match[5])
            if after in since:
                begin, at = since.pop(after)
                pieces.setdefault(at, []).append((begin, now))
            if before in threads and state[0] == "R":
                since[before] = now, cpu
        elif event == "sched_wakeup":
            tid, target = int(re.search(r":(\d+) \[", text)[1]), re.search(r"CPU:(\d+)", text)
            if tid in threads:
                since.setdefault(tid, (now, int(target[1])))
        elif event == "sched_migrate_task":
            tid, target = int(re.search(r"pid=(\d+)", text)[1]), re.search(r"dest_cpu=(\d+)", text)
            if tid in since:
                begin, at = since[tid]
                pieces.setdefault(at, []).append((begin, now))
                since[tid] = now, int(target[1])
    for waits in pieces.values():
        until = 0
        for begin, end in sorted(waits):
            ns += max(0, end - max(begin, until))
            until = max(until, end)
    return ns


def main():
    text, sidecar, folder, *alone = sys.argv[1:]
    meta = json.load(open(sidecar, encoding="utf-8"))
    guest, = meta["guests"]
    tids = [vcpu["tid"] for vcpu in guest["vcpus"]]
    held, possible, preempted = holds_of(text, {tid: "unknown" for tid in tids}, set(guest["threads"]))

    report = json.load(open(f"{folder}/report.json", encoding="utf-8"))
    limit, = report["steal"]["limits"]
    pieces = [piece for tid in tids for piece in held[tid]]
    maybe = [piece for tid in tids for piece in possible[tid]]
    assert len(pieces) > 1 and len(maybe) > 10
    assert (limit["held_ns"], limit["held"]) == (total(pieces), len(pieces)), (limit, pieces)
    assert limit["possible_ns"] == total(maybe), (limit, total(maybe))
    assert report["steal"]["kinds"]["limit_ns"] == preempted

    # the kernel's own sum: not less than is certain; what it has more than the possible began before the trace, has not
    # ended, or is of other threads, or of a CPU whose thread sleeps
    kernel = limit["quotas"][0]["throttled_ns"]
    begin, end = (meta["cgroups"][1][key]["throttled_us"] for key in ("begin", "end"))
    assert kernel == (end - begin) * 1000
    period = meta["cgroups"][1]["begin"]["period_us"] * 1000
    assert total(pieces) <= kernel, (kernel, total(pieces))
    assert kernel > 0.9 * (total(pieces) + total(maybe))
    if not alone:
        # nobody else wants these pCPUs, so that all waits are for the quota
        assert 0.85 * kernel < waits_of(text, set(guest["threads"])) < kernel, kernel
    assert not alone or kernel <= total(pieces) + total(maybe) + 2 * period, (kernel, total(pieces), total(maybe))

    with open(f"{folder}/tables/vcpu.csv", encoding="utf-8") as file:
        tid_of = {row["id"]: int(row["tid"]) for row in csv.DictReader(file)}
    sums = {tid: [0, 0] for tid in tids}
    with open(f"{folder}/tables/interval.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            waits = row["state"] in ("preempted", "waking", "offline")
            assert (row["held_ns"] != "") == (row["possible_ns"] != "") == waits, row
            if waits:
                sums[tid_of[row["vcpu"]]][0] += int(row["held_ns"])
                sums[tid_of[row["vcpu"]]][1] += int(row["possible_ns"])
    assert sums == {tid: [total(held[tid]), total(possible[tid])] for tid in tids}, sums

    answers = json.load(open(f"{folder}/why.json", encoding="utf-8"))["answers"]
    found = 0
    for segment in (answer["segments"][0] for answer in answers):
        for key, of in ("held_ns", held), ("possible_ns", possible):
            inside = [(max(begin, segment["from_ns"]), min(end, segment["to_ns"]))
                      for tid in tids if segment["subject"] == f"web v{tids.index(tid)}"
                      for begin, end in of[tid] if begin < segment["to_ns"] and end > segment["from_ns"]]
            assert segment.get(key, 0) == total(inside), (segment, inside)
            found += bool(inside)
        assert segment["steal_kinds"]["limit_ns"] == segment.get("held_ns", 0)
        assert sum(segment["steal_kinds"].values()) == segment["to_ns"] - segment["from_ns"]
    assert found > 10, found
    with open(f"{folder}/worst.csv", encoding="utf-8") as file:
        worst = list(csv.DictReader(file))
    assert sum(int(row["held_ns"] or 0) for row in worst) == total(pieces)
    print(total(pieces), total(maybe), kernel)


if __name__ == "__main__":
    main()
