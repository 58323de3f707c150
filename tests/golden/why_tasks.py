# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "why --task" shows of a guest's tasks is what follows from what trace-cmd prints of its trace.

usage: why_tasks.py [--ns] WHY.json GUEST.txt REPORT.json NAME

WHY.json has answers of whole traces, one per task of the guest's file called NAME; GUEST.txt is from "trace-cmd
report -t -l" of it, REPORT.json from "report --format json". Anew, from the text alone: when each task had a
CPU, why it left it, who woke it and in which handler. That is compared stretch by stretch, by the numbers of the
records at their ends, with --ns by their times as well. While the task has a CPU, the segments are what its
vCPU did: their sums are those of the report, state by state. Prints how many stretches were compared.
"""
import collections
import itertools
import json
import os
import re
import sys

from json_documents import documents

LINE = re.compile(r"^\s*(.*)-(\d+)\s+(\d+)([^\s\d]\S{4})\s*(\d+)(?:\.(\d{9}))?: +([\w-]+): *(.*)$")
SWITCH = re.compile(r":(-?\d+) \[-?\d+\] (\S+) ==> (.*):(-?\d+) \[")
WAKING = re.compile(r" pid=(\d+) ")
WAKEUP = re.compile(r":(\d+) \[-?\d+\]")
MIGRATE = re.compile(r" pid=(\d+) .*dest_cpu=(\d+)")
STATES = ("guest", "hypervisor", "polling", "vmm", "preempted", "waking", "blocked", "device_model", "offline",
          "unknown")

Record = collections.namedtuple("Record", "number ns cpu flags comm pid event info")
Stretch = collections.namedtuple("Stretch", "kind first last waker handler cause")


def read(path):
    records = []
    for line in open(path, errors="replace"):
        match = LINE.match(line)
        assert "DROPPED" not in line
        if match:
            comm, pid, cpu, flags, seconds, fraction, event, info = match.groups()
            ns = int(seconds) * 10**9 + int(fraction) if fraction else int(seconds)
            records.append(Record(len(records), ns, int(cpu), flags, comm.strip(), int(pid), event, info))
    return records


HANDLERS = {
    "irq_handler": lambda info: "irq %s %s" % re.search(r"irq=(\d+) name=(.*)", info).groups(),
    "softirq": lambda info: "softirq " + re.search(r"action=(\w+)", info)[1],
    "hrtimer_expire": lambda info: "hrtimer",
    "timer_expire": lambda info: "timer",
}


def handlers_of(records):
    """By number of a record: the innermost handler of its CPU, and whether that is a softirq's."""
    stacks, of = collections.defaultdict(list), {}
    for record in records:
        event, _, edge = record.event.rpartition("_")
        if event in HANDLERS and edge == "entry":
            stacks[record.cpu].append((event, HANDLERS[event](record.info)))
        elif event in HANDLERS and edge == "exit":
            stack = stacks[record.cpu]
            stacks[record.cpu] = stack[:-1] if stack and stack[-1][0] == event else []
        of[record.number] = stacks[record.cpu][-1] if stacks[record.cpu] else None
    return of


def waker_of(record, handlers):
    """Of a sched_waking: (pid of the task, handler, cause)."""
    hard = record.flags[2] in "hH"
    # names are cut to 8 characters: ksoftirqd/0
    soft = record.flags[2] == "s" and not record.comm.startswith("ksoftirq")
    if not hard and not soft and record.pid:
        return record.pid, None, "task"
    handler = handlers[record.number]
    if not handler or not (hard or soft) or (handler[0] in ("softirq", "timer_expire")) != soft:
        return None, None, "interrupt"
    return None, handler[1], "timer" if "timer" in handler[1].lower() else "interrupt"


def stretches(records, pid, handlers):
    """What a task did, from where it is first seen, with all CPUs known, to where it is seen last."""
    cpus = {record.cpu for record in records}
    first = {cpu: next(r.number for r in records if r.cpu == cpu) for cpu in cpus}
    known = max(first.values())
    state, since, waker, early = None, None, (None, None, None), None
    for record in records:
        new = None
        ended_by = (None, None, None)
        if record.event == "sched_switch":
            out, left, _, into = SWITCH.search(record.info).groups()
            if int(out) == pid:
                new = "offline" if left[0] in "XZ" else "preempted" if left[0] == "R" else "blocked"
            if int(into) == pid:
                new = "runs"
        elif record.event == "sched_waking" and int(WAKING.search(record.info)[1]) == pid:
            ended_by = waker_of(record, handlers)
            new = "waking" if state in (None, "blocked") else None
            early = ended_by if state == "runs" else early
        elif record.event == "sched_wakeup" and int(WAKEUP.search(record.info)[1]) == pid:
            ended_by = early or ended_by
            new = "waking" if state in (None, "blocked") else None
            early = None
        elif record.event == "sched_wakeup_new" and int(WAKEUP.search(record.info)[1]) == pid:
            new = "waking"
        if new is None:
            continue
        if state and since >= known:
            yield Stretch(state, since, record.number, *(ended_by if state == "blocked" else (None,) * 3))
        state, since = new, record.number


def groups(answer):
    """The same out of the answer: what the task's vCPUs did while it had them is one stretch."""
    for runs, segments in itertools.groupby(answer["segments"], lambda s: s.get("task") == answer["subject"]):
        segments = list(segments)
        for some in [segments] if runs else [[segment] for segment in segments]:
            numbers = [n for s in some for n in s.get("guest_evidence", {}).get("records", [])]
            yield "runs" if runs else some[0]["kind"], numbers, some


def check_task(answer, records, handlers, exact):
    """Return: how many stretches have been compared."""
    pid = int(answer["subject"].rsplit("-", 1)[1])
    answered = {}
    for kind, numbers, segments in groups(answer):
        if len(numbers) >= 2:
            answered[numbers[0]] = kind, numbers[-1], segments
    compared = 0
    for wanted in stretches(records, pid, handlers):
        if records[wanted.last].ns == records[wanted.first].ns:
            continue
        if wanted.last > answer["last"] or wanted.first < answer["first"]:
            continue
        assert wanted.first in answered, (answer["subject"], wanted)
        kind, last, segments = answered[wanted.first]
        assert (kind, last) == (wanted.kind, wanted.last), (answer["subject"], wanted, kind, last)
        if exact:
            assert segments[0]["from_ns"] == records[wanted.first].ns, wanted
            assert segments[-1]["to_ns"] == records[wanted.last].ns, wanted
        if wanted.kind == "blocked":
            segment = segments[0]
            assert segment["cause"] == wanted.cause, (wanted, segment["cause"])
            assert segment.get("handler") == wanted.handler, (wanted, segment.get("handler"))
            waker = segment.get("who")
            assert (int(waker.rsplit("-", 1)[1]) if waker else None) == wanted.waker, (wanted, waker)
        compared += 1
    return compared


def check_sums(answer, task):
    ns = collections.Counter()
    for segment in answer["segments"]:
        if segment.get("task") == answer["subject"]:
            kind = "unknown" if segment["kind"] == "unexplained" else segment["kind"]
            ns[kind] += segment["to_ns"] - segment["from_ns"]
    wanted = {state: task["states_ns"].get(state, 0) for state in STATES}
    assert {state: ns[state] for state in STATES} == wanted, (answer["subject"], ns, wanted)


def main(argv):
    exact = argv[0] == "--ns"
    why, text, report, name = argv[exact:]
    records = read(text)
    handlers = handlers_of(records)
    guest, = [g for g in json.load(open(report))["guests"] if os.path.basename(g["file"]) == name]
    tasks = {task["pid"]: task for task in guest["tasks"]}
    total = 0
    for answer in documents(why):
        numbers = [n for s in answer["segments"] for n in s.get("guest_evidence", {}).get("records", [])]
        answer["first"], answer["last"] = min(numbers), max(numbers)
        total += check_task(answer, records, handlers, exact)
        check_sums(answer, tasks[int(answer["subject"].rsplit("-", 1)[1])])
    print(total)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
