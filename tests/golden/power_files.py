#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces of pCPUs that sleep and change their frequency, and what report --power must print of them.

usage: power_files.py kvm|xen make FILE [FACTOR], of all frequencies
       power_files.py kvm|xen check REPORT.json REPORT.csv REPORT.text

A vCPU is woken again and again on pCPU 0, which sleeps in between, and now and then loses records; pCPU 1
is where it is woken from, and never sleeps. What is expected is summed up moment by moment from what was
made, within the window that the report has.
"""
import collections
import csv
import json
import random
import sys

import scale_files
from scale_files import Dat, Xen, change, switch

scale_files.EVENTS = dict(scale_files.EVENTS)
for number, name in ((20, "cpu_idle"), (21, "cpu_frequency")):
    scale_files.EVENTS[name] = (number, "power", (("u32", "state", 4, 0), ("u32", "cpu_id", 4, 0)))

AWAKE, UNKNOWN = -1, None
NO_SLEEP = 0xffffffff
WAKER, VCPU = 500, 1000
ROUNDS = 60


class Made:
    """What was made: from when on something holds, and times from, to."""
    factor = 1.0

    def __init__(self):
        self.idle = {0: [], 1: []}
        self.speed = {0: [], 1: []}
        self.waits, self.runs = [], []
        self.random = random.Random(17)

    def lose(self, now):
        self.idle[0].append((now, UNKNOWN))
        self.speed[0].append((now, UNKNOWN))


class Kvm(Made):
    states = {0: "POLL", 1: "C1", 2: "state 2", 3: "C6"}
    sidecar = {"idle_states": ["POLL", "C1", "", "C6"]}

    def __init__(self):
        super().__init__()
        self.trace = Dat(step=0)
        self.trace.at(1)
        switch(self.trace, 0, WAKER)
        self.pass_time()
        self.waker()
        self.idle[1].append((self.trace.time, AWAKE))
        self.trace.add("sched_wakeup", WAKER, WAKER + 1)
        self.trace.at(0)
        self.trace.add("kvm_entry", VCPU, 0)
        self.idle[0].append((self.trace.time, AWAKE))
        self.runs.append([self.trace.time, None])
        for i in range(ROUNDS):
            self.round(i)
        self.pass_time()
        self.end = self.trace.time
        self.waker()
        self.trace.add("sched_wakeup", WAKER, WAKER + 1)

    def pass_time(self):
        self.trace.time += self.random.randrange(1, 100000)
        return self.trace.time

    def waker(self):
        self.trace.at(1)

    def set_speed(self):
        khz = round(self.random.choice((800000, 1200000, 3400000, 0)) * self.factor)
        self.trace.add("cpu_frequency", WAKER, khz, 0)
        self.speed[0].append((self.trace.time, khz or UNKNOWN))

    def round(self, i):
        trace, state = self.trace, self.random.randrange(4)
        trace.at(0)
        now = self.pass_time()
        trace.add("kvm_exit", VCPU, 0x78, 2, 0)
        now = self.pass_time()
        switch(trace, VCPU, 0)
        self.runs[-1][1] = now
        now = self.pass_time()
        trace.add("cpu_idle", 0, state, 0)
        self.idle[0].append((now, state))
        if i % 3 == 0:
            self.pass_time()
            self.waker()
            self.set_speed()
        woken = self.pass_time()
        self.waker()
        trace.add("sched_wakeup", WAKER, VCPU)
        trace.at(0)
        lost = i % 17 == 16
        if lost:
            # from its last record on, it is unknown; and the vCPU is not known to wait
            self.lose(now + 1)
        now = self.pass_time()
        if lost:
            trace.lose()
        trace.add("cpu_idle", 0, NO_SLEEP, 0)
        self.idle[0].append((now, AWAKE))
        now = self.pass_time()
        switch(trace, 0, VCPU)
        if not lost:
            self.waits.append((woken, now))
        self.runs.append([now, None])
        self.pass_time()
        trace.add("kvm_entry", VCPU, 0)

    def data(self):
        self.runs[-1][1] = self.end + 1
        return self.trace.data()


class XenMade(Made):
    states = {1: "C1", 2: "C2", 6: "C6"}
    ENTRY, EXIT, CHANGE = 0x801002, 0x801003, 0x801001
    D1V0, IDLE = 1 << 16, 0x7fff0000

    def __init__(self):
        super().__init__()
        self.trace = Xen(step=0)
        self.mhz = 0
        self.here(1)
        self.trace.add(change(1, 0), 0)
        self.here(0)
        self.trace.add(change(1, 0), self.D1V0)
        self.runs.append([self.now(), None])
        for i in range(ROUNDS):
            self.round(i)
        self.pass_time()
        self.here(0)
        self.trace.add(change(0, 1), self.D1V0)
        self.runs[-1][1] = self.now()

    def here(self, pcpu):
        if self.trace.pcpu != pcpu:
            self.trace.at(pcpu)

    def now(self):
        return self.trace.tsc

    def pass_time(self):
        self.trace.tsc += self.random.randrange(1, 100000)
        return self.now()

    def set_speed(self):
        old, self.mhz = self.mhz or 1000, round(self.random.choice((800, 1200, 3400)) *
                                                    self.factor)
        if not self.speed[0]:
            # up to the first change, the old one
            self.speed[0].append((0, old * 1000))
        self.trace.add(self.CHANGE, old, self.mhz)
        self.speed[0].append((self.now(), self.mhz * 1000))

    def round(self, i):
        trace, state = self.trace, self.random.choice(list(self.states))
        self.here(0)
        now = self.pass_time()
        trace.add(change(0, 2), self.D1V0)
        self.runs[-1][1] = now
        trace.add(change(1, 0), self.IDLE)
        if i % 3 == 0:
            self.pass_time()
            self.set_speed()
        now = self.pass_time()
        trace.add(self.ENTRY, state, 0, 0, 0)
        self.idle[0].append((now, state))
        now = self.pass_time()
        self.here(1)
        trace.add(change(2, 1), self.D1V0)
        woken = now
        now = self.pass_time()
        self.here(0)
        trace.add(self.EXIT, state, 0, 0, 0, 0, 0)
        self.idle[0].append((now, AWAKE))
        now = self.pass_time()
        trace.add(change(0, 1), self.IDLE)
        trace.add(change(1, 0), self.D1V0)
        self.waits.append((woken, now))
        self.runs.append([now, None])

    def data(self):
        return self.trace.data()


def steps(found, begin, end):
    """What holds in a window: from, to, value, and whether it begins there."""
    found = [(begin - 1, UNKNOWN)] + sorted(found, key=lambda step: step[0])
    merged = [found[0]]
    for time, value in found[1:]:
        if value == merged[-1][1]:
            continue
        if time == merged[-1][0]:
            merged.pop()
        merged.append((time, value))
    for (since, value), (until, _) in zip(merged, merged[1:] + [(end, UNKNOWN)]):
        if until > begin and since < end:
            yield since, min(until, 1 << 62), value


def cut(since, until, begin, end):
    return max(0, min(until, end) - max(since, begin))


def sums(parts, name):
    """Of (ns, value, begins, whole): as the report has it."""
    awake = sum(ns for ns, value, _, _ in parts if value == AWAKE)
    unknown = sum(ns for ns, value, _, _ in parts if value is UNKNOWN)
    idle = []
    for state in sorted({value for _, value, _, _ in parts if value not in (AWAKE, UNKNOWN)}):
        own = [part for part in parts if part[1] == state and (part[0] or part[2])]
        begun = [whole for _, _, begins, whole in own if begins]
        one = {"state": state, "what": name[state], "count": len(begun),
               "total_ns": sum(ns for ns, _, _, _ in own)}
        if begun:
            one["max_ns"] = max(begun)
        if own:
            idle.append(one)
    return {"awake_ns": awake, "unknown_ns": unknown, "idle_states": idle}


def speed(found, stretches, begin, end):
    known = total = 0
    seen = []
    for since, until in stretches:
        for at, to, khz in steps(found, begin, end):
            ns = cut(max(at, since), min(to, until), begin, end)
            if ns and khz is not UNKNOWN:
                known, total = known + ns, total + ns * khz
                seen.append(khz)
    return {"known_ns": known, "mean_khz": (total + known // 2) // known, "min_khz": min(seen),
            "max_khz": max(seen)} if known else None


def of_pcpu(made, pcpu, begin, end, trace):
    parts = [(cut(at, to, begin, end), value, at >= begin, min(to, trace[1]) - max(at, trace[0]))
             for at, to, value in steps(made.idle[pcpu], begin, end)]
    numbers = sums(parts, made.states)
    numbers["frequency"] = speed(made.speed[pcpu], [(begin, end)], begin, end)
    return numbers


def of_vcpu(made, begin, end):
    parts = []
    for woken, on in made.waits:
        for at, to, value in steps(made.idle[0], min(begin, woken), max(end, on)):
            since, until = max(at, woken), min(to, on)
            if since < until and cut(since, until, begin, end):
                parts.append((cut(since, until, begin, end), value,
                              since == woken and woken >= begin, until - since))
    numbers = sums(parts, made.states)
    numbers["waking_ns"] = sum(cut(a, b, begin, end) for a, b in made.waits)
    numbers["on_pcpu_ns"] = sum(cut(a, b, begin, end) for a, b in made.runs)
    numbers["frequency"] = speed(made.speed[0], made.runs, begin, end)
    return numbers


def check_frequencies(made, report, begin, end):
    """Times at each frequency are as made; those of vCPUs and tasks together are those of pCPUs."""
    by_pcpu = {(row["pcpu"], row["khz"]): row for row in report["pcpu_frequencies"]}
    for pcpu in 0, 1:
        wanted, changes = collections.Counter(), collections.Counter()
        for at, to, khz in steps(made.speed[pcpu], begin, end):
            wanted[khz] += cut(at, to, begin, end)
            changes[khz] += at >= begin and khz is not UNKNOWN
        for khz, ns in wanted.items():
            assert not ns or by_pcpu[pcpu, khz]["total_ns"] == ns, (pcpu, khz, ns)
            assert not changes[khz] or by_pcpu[pcpu, khz]["changes"] == changes[khz], (pcpu, khz)
        assert sum(row["total_ns"] for (p, _), row in by_pcpu.items() if p == pcpu) == end - begin
    wanted = collections.Counter()
    for since, until in made.runs:
        for at, to, khz in steps(made.speed[0], begin, end):
            wanted[khz] += cut(max(at, since), min(to, until), begin, end)
    reported = {row["khz"]: row["total_ns"] for row in report["frequencies"]
                if row["kind"] == "vcpu" and row["vcpu"] != "d0v0"}
    assert reported == {khz: ns for khz, ns in wanted.items() if ns}, (reported, wanted)
    for number in "total_ns", "changes":
        ours, theirs = collections.Counter(), collections.Counter()
        for sums, rows in (ours, report["frequencies"]), (theirs, report["pcpu_frequencies"]):
            for row in rows:
                sums[row["khz"]] += row[number]
        assert ours == theirs, (number, ours, theirs)


def check(made, json_path, csv_path, text_path):
    report = json.load(open(json_path))
    begin, end = report["window_ns"]
    expected = {"p0": of_pcpu(made, 0, begin, end, (0, 1 << 62)),
                "p1": of_pcpu(made, 1, begin, end, (0, 1 << 62)),
                "vcpu": of_vcpu(made, begin, end)}
    reported = {"p%d" % one["pcpu"]: one for one in report["pcpus"]}
    reported["vcpu"] = [one for one in report["vcpus"] if one["on_pcpu_ns"] or one["waking_ns"]
                        if one["vcpu"] != "d0v0"][0]
    for who, values in expected.items():
        for key, value in values.items():
            got = reported[who].get(key)
            if key == "frequency" and got and value:
                got = {k: v for k, v in got.items() if k != "changes"}
            assert got == value, "%s, %s: %s instead of %s" % (who, key, got, value)
    check_frequencies(made, report, begin, end)
    check_csv(report, list(csv.DictReader(open(csv_path))))
    text = open(text_path).read()
    for one in reported["p0"]["idle_states"]:
        assert any(line.split()[:len(one["what"].split()) + 1] ==
                   one["what"].split() + [str(one["count"])] for line in text.splitlines()), one
    print("window of %d ns: as made" % (end - begin))


def check_csv(report, rows):
    frequencies = [row for row in rows if row["what"] == "at a frequency"]
    rows = rows[:len(rows) - len(frequencies)]
    assert [tuple(row[key] for key in ("machine", "vcpu", "pcpu", "name", "khz", "count", "total_ns"))
            for row in frequencies] == \
        [tuple("" if row.get(key) is None else str(row[key])
               for key in ("machine", "vcpu", "pcpu", "name", "khz", "changes", "total_ns"))
         for row in report["pcpu_frequencies"] + report["frequencies"]]
    rows = {(row["kind"], row[row["kind"]], row["what"]): row for row in rows}
    n = 0
    for kind in ("pcpu", "vcpu"):
        for one in report[kind + "s"]:
            own = {what: row for (k, name, what), row in rows.items()
                   if (k, name) == (kind, str(one[kind]))}
            n += len(own)
            for state in one["idle_states"]:
                row = own.pop(state["what"])
                assert [row["count"], row["total_ns"], row["max_ns"]] == \
                    [str(state["count"]), str(state["total_ns"]), str(state.get("max_ns", ""))], row
            for what in ("awake", "unknown"):
                assert int(own.pop(what)["total_ns"]) == one[what + "_ns"]
            if kind == "vcpu":
                assert int(own.pop("on_pcpu")["total_ns"]) == one["on_pcpu_ns"]
            if "frequency" in one:
                row = own.pop("frequency")
                assert {"known_ns": row["total_ns"], **{k: row[k] for k in row if "_khz" in k}} == \
                    {k: str(v) for k, v in one["frequency"].items() if k != "changes"}, row
            assert not own, own
    assert n == len(rows)


def main():
    if sys.argv[2] == "make" and len(sys.argv) > 4:
        Made.factor = float(sys.argv[4])
    made = {"kvm": Kvm, "xen": XenMade}[sys.argv[1]]()
    if sys.argv[2] == "check":
        made.data()
        check(made, *sys.argv[3:])
        return
    with open(sys.argv[3], "wb") as out:
        out.write(made.data())
    if hasattr(made, "sidecar"):
        json.dump(made.sidecar, open(sys.argv[3] + ".meta.json", "w"))


if __name__ == "__main__":
    main()
