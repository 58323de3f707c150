# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each that "why" names, at any level of its trees, was there: by what trace-cmd prints of the host and its guests.

usage: why_chain.py WHY.json HOST.txt MACHINE=GUEST.txt...

The texts are from "trace-cmd report -t", with the guests' times brought to the host's. Checked of each segment:
that a task of the host has the pCPU, that a guest's task has the vCPU, that the one which is said to have ended
a sleep was where the wake-up was recorded, and that a vCPU that woke another one executed the task that is
named. Prints how much of each was checked.
"""
import bisect
import collections
import re
import sys

from json_documents import documents

LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\s*(?:[^\s\d]\S{3,5} +)?(\d+)\.(\d{9}): +([\w-]+): *(.*)$")
NEXT = re.compile(r"==> .*:(-?\d+) \[")
WOKEN = {"sched_waking": re.compile(r" pid=(\d+) "), "sched_wakeup": re.compile(r":(\d+) \[")}
checked = collections.Counter()


class Text:
    """Who had each CPU from when on, and each wake-up, with its waker."""

    def __init__(self, path):
        self.times, self.pids, self.wakes = collections.defaultdict(list), collections.defaultdict(list), {}
        self.records = []       # their times, by number
        for line in open(path, errors="replace"):
            match = LINE.match(line)
            if not match:
                continue
            _, pid, cpu, seconds, fraction, event, info = match.groups()
            ns, pid, cpu = int(seconds) * 10**9 + int(fraction), int(pid), int(cpu)
            self.records.append(ns)
            if not self.times[cpu]:
                self.add(cpu, ns, pid)
            if event == "sched_switch":
                self.add(cpu, ns, int(NEXT.search(info)[1]))
            elif event in WOKEN:
                self.wakes.setdefault((ns, int(WOKEN[event].search(info)[1])), []).append(pid)

    def add(self, cpu, ns, pid):
        self.times[cpu].append(ns)
        self.pids[cpu].append(pid)

    def at(self, cpu, ns):
        """All that may be meant: at a switch, both."""
        i = bisect.bisect_right(self.times[cpu], ns)
        pids = self.pids[cpu]
        return {pids[k] for k in range(max(i - 1, 0), min(i, len(pids)))} | \
            ({pids[i - 2]} if i > 1 and self.times[cpu][i - 1] == ns else set())


def pid_of(name):
    return 0 if name.endswith(":idle") else int(name.rsplit("-", 1)[1])


def cpu_of(vcpu):
    """("web", 0) of "web v0", or ("g1", 0) of "g1v0"."""
    return re.match(r"(.*?) ?v(\d+)$", vcpu).groups()


def expect(what, pid, pids, segment):
    checked[what] += 1
    assert pid in pids, (what, pids, {k: v for k, v in segment.items() if k != "segments"})


def ends(segment, host, guests):
    """Is its end recorded, or is it cut there?"""
    machine = (segment.get("subject") or "").split(":")[0]
    guest_records = segment.get("guest_evidence", {}).get("records", [])
    return any(host.records[n] == segment["to_ns"] for n in segment["evidence"]) or \
        (machine in guests and any(guests[machine].records[n] == segment["to_ns"] for n in guest_records))


def check_waker(segment, host, guests):
    subject, who = segment["subject"], segment["who"]
    machine = subject.split(":")[0] if ":" in subject else None
    if "who_task" in segment:
        expect("wakes a vCPU" if re.search(r"v\d+$", subject) else "wakes by a vCPU", pid_of(segment["who_task"]),
               guests[cpu_of(who)[0]].at(int(cpu_of(who)[1]), segment["to_ns"]), segment)
    elif machine in guests:
        expect("wakes a task", pid_of(who), guests[machine].wakes[segment["to_ns"], pid_of(subject)], segment)
    elif re.search(r"-\d+$", subject) and re.search(r"-\d+$", who):
        expect("wakes a task of the host", pid_of(who), host.wakes[segment["to_ns"], pid_of(subject)], segment)


def check(segment, host, guests):
    subject, kind = segment.get("subject"), segment["kind"]
    if kind == "task" and "vcpu" in segment:
        machine, cpu = cpu_of(segment["vcpu"])
        expect("has the vCPU", pid_of(subject), guests[machine].at(int(cpu), segment["from_ns"]), segment)
    elif kind == "task":
        expect("has the pCPU", pid_of(subject), host.at(segment["pcpu"], segment["from_ns"]), segment)
    elif kind == "guest" and "task" in segment:
        machine, cpu = cpu_of(subject)
        expect("is executed", pid_of(segment["task"]), guests[machine].at(int(cpu), segment["from_ns"]), segment)
    elif kind == "blocked" and "who" in segment and ends(segment, host, guests):
        check_waker(segment, host, guests)
    for below in segment["segments"]:
        check(below, host, guests)


def main(why, host, *guests):
    host = Text(host)
    guests = {name: Text(path) for name, path in (guest.split("=", 1) for guest in guests)}
    for answer in documents(why):
        for segment in answer["segments"]:
            check(segment, host, guests)
    print(", ".join("%s: %d" % item for item in sorted(checked.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
