#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Verdicts about warnings of a guest's kernel whose cause is known, recounted from the text of trace-cmd.

usage: warnings_oracle.py CAUSE WHY.json HOST.txt GUEST.txt SIDECAR LOG		what "trace-cmd report -t" prints

CAUSE is stopped, spins or quota. Each warning of LOG must have the verdict that belongs to it, and there is no other.
"""
import bisect
import json
import re
import sys

from guest_log import count, machine_word, word_of
from quota_oracle import SWITCH, records

NS = 10**9
# What each cause lets the kernel write, with the verdict and the largest part of the host's time.
TRUTH = {
    "stopped": {"soft_lockup": ("host", "paused")},
    "spins": {"rcu_stall": ("guest", None), "nmi_handler": ("not_host", None)},
    "quota": dict.fromkeys(("rcu_stall", "soft_lockup", "nmi_handler", "hrtimer"), ("host", "limit")),
}
# The words of these in the log; what else the kernel writes is no warning about time, or below one of these.
LINES = {
    "rcu_stall": r"rcu: INFO: rcu_\w+ (self-)?detected (expedited )?stalls? on CPU",
    "soft_lockup": r"watchdog: BUG: soft lockup - CPU#\d+ stuck for \d+s!",
    "nmi_handler": r"INFO: NMI handler \(\w+\) took too long to run: [\d.]+ msecs",
    "hrtimer": r"hrtimer: interrupt took \d+ ns",
}


def states_of(path, tids):
    """{tid: [(time, state)]}: what the threads of vCPUs do from each time on."""
    states = {tid: [] for tid in tids}
    last = dict.fromkeys(tids, "")

    def add(tid, time, state):
        states[tid].append((time, state))

    for time, _, event, text, thread in records(path):
        if event == "sched_switch":
            match = SWITCH.match(text)
            gone, state, come = int(match[2]), match[3], int(match[5])
            if gone in states:
                add(gone, time, {"R": "off", "T": "stopped"}.get(state[0], "asleep " + last[gone]))
            if come in states:
                slept = any(name == "asleep HLT" for _, name in states[come][-2:])
                add(come, time, "on HLT" if slept else "on")
        elif event == "sched_wakeup":
            tid = int(re.search(r":(\d+) \[", text)[1])
            if tid in states:
                add(tid, time, "off")
        elif event == "kvm_entry":
            add(thread, time, "guest")
        elif event == "kvm_exit":
            last[thread] = re.search(r"reason EXIT_(\w+)", text)[1]
            add(thread, time, "exit " + last[thread])
    return states


def check_place(answer, states, guest, tids):
    """The guest's events happen while their vCPU executes guest code; not so if they are moved."""
    offset = answer["time_ns"] - answer["guest_time_ns"]
    entries = {tid: [[], []] for tid in tids}
    for tid in tids:
        for time, state in states[tid]:
            entries[tid][0].append(time)
            entries[tid][1].append(state == "guest")

    def inside(shift):
        found = [0, 0]
        for time, cpu, event, *_ in guest:
            times, runs = entries[tids[cpu]]
            i = bisect.bisect_right(times, time + offset + shift) - 1
            if 0 <= i < len(times) - 1 and event.startswith("sched_"):
                found[runs[i]] += 1
        assert sum(found) > 80, found
        return found[1] / sum(found)

    assert inside(0) > 0.999, inside(0)
    assert max(inside(-10**7), inside(10**7)) < 0.97, (inside(-10**7), inside(10**7))


def check_counts(answer, states, tids, cause):
    window = answer["window_ns"]
    ns = window[1] - window[0]
    assert ns == answer["span_ns"] and window[1] == answer["time_ns"], answer
    assert sum(part or 0 for part in answer["parts"].values()) == ns, answer
    mine = {tid: count(states[tid], states[tid][0][0], states[tid][-1][0], window) for tid in tids}
    sides = mine[tids[int(answer["subject"].rpartition("v")[2])]]
    assert not sides["unknown"], (answer, sides)
    for side, counted in sides.items():
        assert answer[side + "_ns"] == counted, (answer, sides)
    assert answer["verdict"] == (machine_word(mine, ns) if answer["cpu"] is None else word_of(sides, ns)), (answer, mine)
    if answer["cpu"] is not None:
        mine = states[tids[answer["cpu"]]]
        stopped = sum(max(0, min(until, window[1]) - max(time, window[0]))
                      for (time, state), (until, _) in zip(mine, mine[1:]) if state == "stopped")
        assert answer["signal_ns"] == stopped and (stopped > 20 * NS) == (cause == "stopped"), (answer, stopped)
    verdict, part = TRUTH[cause][answer["warning"]]
    assert answer["verdict"] == verdict, answer
    assert part is None or (answer["largest_part"] == part and answer["parts"][part + "_ns"] > 0.9 * ns), answer
    return sides


def main():
    cause, why, host, guest, sidecar, log = sys.argv[1:]
    answers = json.load(open(why, encoding="utf-8"))["answers"]
    machine, = json.load(open(sidecar, encoding="utf-8"))["guests"]
    tids = [vcpu["tid"] for vcpu in machine["vcpus"]]
    states = states_of(host, tids)
    guest = list(records(guest))
    lines = open(log, encoding="utf-8").read().splitlines()
    wanted = [(number, kind) for number, line in enumerate(lines, 1) for kind, words in LINES.items()
              if re.search(words, line)]
    assert [(answer["line"], answer["warning"]) for answer in answers] == wanted, wanted
    assert {kind for _, kind in wanted} == set(TRUTH[cause]), wanted
    # the log has the clock of the guest's trace
    marks = [time for time, _, event, text, _ in guest if event == "print" and "the same time" in text]
    same = [round(float(line[1:].split("]")[0]) * NS) for line in lines if line.endswith("the same time")]
    assert len(marks) == len(same) > 0 and all(abs(a - b) < NS // 10 for a, b in zip(marks, same)), (marks, same)
    for answer in answers:
        assert answer["placed_by"] == "guest_trace" and answer["problem"] is None, answer
        sides = check_counts(answer, states, tids, cause)
        check_place(answer, states, guest, tids)
        print(f"{answer['text'][:60]}: {answer['verdict']}, {sides}")


main()
