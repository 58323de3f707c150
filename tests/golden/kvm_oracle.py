#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report" of a KVM host against what trace-cmd prints of the same files.

Usage: kvm_oracle.py REPORT.json HOST.txt [GUEST.txt...]

REPORT.json comes from "kshark-virt report --format json HOST [GUEST...]", the texts from "trace-cmd
report -t" of each file. Everything is computed anew from the text, not event by event but layer by
layer: who had each CPU (its records and switches), what each vCPU's thread was in (entries, exits),
why it had no CPU (the state it was switched out with, wake-ups); then the layers are laid over each
other. Compared, to the nanosecond and for each vCPU: time in each state, exits by reason, what the
exits' time went to, migrations, who had the CPU that a preempted vCPU waited for; for each guest:
records inside of guest time, and its tasks' time, believed and executed. The texts must be of traces
without lost records.
"""
import bisect
import collections
import json
import re
import sys

# the flags, as "d.h1.", are there since trace-cmd 3.3
LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\s*(?:[^\s\d]\S{3,5} +)?"
                  r"(\d+)(?:\.(\d{9}))?: +([\w-]+): *(.*)$")
SWITCH = re.compile(r":(-?\d+) \[-?\d+\] (\S+) ==> (.*):(-?\d+) \[")
POLL = re.compile(r"(wait|poll) time (\d+) ns")
WAKEUP = re.compile(r":(\d+) \[")
MIGRATE = re.compile(r"pid=(\d+) .*dest_cpu=(\d+)")
COSTS = ("hypervisor", "vmm", "preempted", "waking")
ASKED = ("HLT", "PAUSE", "MWAIT", "MONITOR", "VMMCALL")    # the last one perhaps

Record = collections.namedtuple("Record", "ns cpu pid event info")
Segment = collections.namedtuple("Segment", "start end what")
errors = 0
compared = 0


def expect(what, got, wanted):
    global errors, compared
    compared += 1
    if got != wanted:
        errors += 1
        print(f"  {what}: {got} in the report, {wanted} in the records")


def time_of(m):
    """In ns; clocks that count something else are printed without a point."""
    return int(m[4]) * 10**9 + int(m[5]) if m[5] else int(m[4])


def read(path):
    records = []
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if m:
            records.append(Record(time_of(m), int(m[3]), int(m[2]), m[6], m[7]))
        elif "EVENTS DROPPED" in line:
            sys.exit(f"{path}: records are missing")
    return records


def occupants(records, end):
    """Who had each CPU: {cpu: [Segment(start, end, pid)]}, from each CPU's first record on."""
    of = collections.defaultdict(list)
    for r in records:
        runs = of[r.cpu]
        if not runs:
            runs.append([r.ns, r.pid])
        if r.event == "sched_switch":
            runs.append([r.ns, int(SWITCH.search(r.info)[4])])
    return {cpu: [Segment(a[0], b, a[1]) for a, b in zip(runs, [r[0] for r in runs[1:]] + [end])]
            for cpu, runs in of.items()}


class Thread:
    """All that is known of a vCPU's thread."""

    def __init__(self, tid, records, cpus, begin, end):
        self.tid, self.begin, self.end = tid, begin, end
        # since when it is known who has each CPU
        self.known = max(runs[0].start for runs in cpus.values())
        self.on = sorted((s.start, s.end, cpu) for cpu, runs in cpus.items()
                         for s in runs if s.what == tid and s.start < s.end)
        self.modes = []         # (time, state, reason)
        self.exits = []         # (time, reason)
        self.signals = []       # times at which one called the monitor back
        self.outs = {}          # time of switch: state
        self.wakes = []
        self.born = None
        self.moves = []
        self.polls = []         # (begin, end, whether it slept in between)
        for r in records:
            if r.event == "sched_switch":
                m = SWITCH.search(r.info)
                if int(m[1]) == tid:
                    self.outs[r.ns] = m[2]
            elif r.event in ("sched_wakeup", "sched_wakeup_new"):
                if int(WAKEUP.search(r.info)[1]) == tid:
                    self.wakes.append(r.ns)
                    if r.event == "sched_wakeup_new":
                        self.born = r.ns
            elif r.event == "sched_migrate_task":
                m = MIGRATE.search(r.info)
                if int(m[1]) == tid:
                    self.moves.append((r.ns, int(m[2])))
            elif r.pid == tid and r.event == "kvm_entry":
                self.modes.append((r.ns, "guest", None))
            elif r.pid == tid and r.event == "kvm_exit":
                reason = re.sub("^EXIT_", "", r.info.split()[1])
                self.exits.append((r.ns, reason))
                self.modes.append((r.ns, "hypervisor", reason))
            elif r.pid == tid and r.event == "kvm_nested_vmexit":
                # it was not the guest that left, but its guest
                ns, reason = self.exits.pop()
                self.exits.append((ns, "L2:" + reason))
                self.modes[-1] = (ns, "hypervisor", "L2:" + reason)
            elif r.pid == tid and r.event == "kvm_vcpu_wakeup":
                what, ns = POLL.match(r.info).groups()
                begin = max(r.ns - int(ns), self.exits[-1][0] if self.exits else begin)
                self.polls.append((begin, r.ns, what == "wait"))
            elif r.pid == tid and r.event == "kvm_userspace_exit":
                reason = self.exits[-1][1] if self.exits else None
                self.modes.append((r.ns, "vmm", reason))
                if "restart" in r.info or "KVM_EXIT_INTR" in r.info:
                    self.signals.append(r.ns)
        self.timeline = self.lay_over()
        self.starts = [s.start for s in self.timeline]

    def mode_pieces(self, start, end):
        times = [m[0] for m in self.modes]
        i = bisect.bisect_right(times, start)
        if i:
            before = self.modes[i - 1][1]
        else:
            # until the first word about it; it was in the guest if that is an exit from there
            shown = self.modes and start <= self.modes[0][0] < end
            before = "guest" if shown and self.exits and \
                self.exits[0][0] == self.modes[0][0] else "hypervisor"
        pieces, at = [], start
        while i < len(times) and times[i] < end:
            pieces.append(Segment(at, times[i], before))
            at, before = times[i], self.modes[i][1]
            i += 1
        return pieces + [Segment(at, end, before)]

    def off_pieces(self, start, end):
        state = self.outs.get(start)
        if state is None:
            return self.first_pieces(start, end)
        if state[0] == "R":
            return [Segment(start, end, "preempted")]
        first = "offline" if state[0] in "XZ" else "blocked"
        i = bisect.bisect_left(self.wakes, start)
        wake = self.wakes[i] if i < len(self.wakes) and self.wakes[i] < end else end
        return [Segment(start, wake, first), Segment(wake, end, "waking")]

    def first_pieces(self, start, end):
        """If its first record is a wake-up, it has been asleep since all CPUs are known."""
        if self.born is not None and start <= self.born < end:
            return [Segment(start, self.born, "offline"), Segment(self.born, end, "waking")]
        first = self.wakes[0] if self.wakes else end
        if not self.known <= first < end:
            return [Segment(start, end, "unknown")]
        return [Segment(start, self.known, "unknown"), Segment(self.known, first, "blocked"),
                Segment(first, end, "waking")]

    def lay_over(self):
        timeline, at = [], self.begin
        for start, end, _ in self.on:
            if at < start:
                timeline += self.off_pieces(at, start)
            timeline += self.mode_pieces(start, end)
            at = end
        if at < self.end:
            timeline += self.off_pieces(at, self.end)
        return self.poll([s for s in timeline if s.start < s.end])

    def poll(self, timeline):
        """In the hypervisor until it slept, or all of the time, KVM polled."""
        for begin, end, slept in self.polls:
            first = bisect.bisect_right([s.start for s in timeline], begin) - 1
            last = next((i for i in range(max(first, 0), len(timeline)) if
                         timeline[i].start >= end or timeline[i].what == "blocked"), None)
            until = timeline[last].start if last is not None else end
            if slept and (last is None or until >= end):
                continue
            pieces = []
            for s in timeline[max(first, 0):last]:
                cuts = [s.start] + [t for t in (begin, min(until, end)) if s.start < t < s.end]
                pieces += [Segment(a, b, "polling" if s.what == "hypervisor" and
                                   begin <= a and b <= min(until, end) else s.what)
                           for a, b in zip(cuts, cuts[1:] + [s.end])]
            timeline[max(first, 0):last] = pieces
        return timeline

    def totals(self, start=None, end=None):
        start = self.begin if start is None else start
        end = self.end if end is None else end
        ns = collections.Counter()
        i = max(bisect.bisect_right(self.starts, start) - 1, 0)
        while i < len(self.timeline) and self.timeline[i].start < end:
            s = self.timeline[i]
            ns[s.what] += max(min(s.end, end) - max(s.start, start), 0)
            i += 1
        return ns

    def executed_on(self, start, end):
        """Time that it executed its guest, by physical CPU."""
        ns = collections.Counter()
        i = max(bisect.bisect_right(self.on, (start,)) - 1, 0)
        while i < len(self.on) and self.on[i][0] < end:
            a, b, cpu = self.on[i]
            if max(a, start) < min(b, end):
                ns[cpu] += self.totals(max(a, start), min(b, end))["guest"]
            i += 1
        return +ns

    def state_at(self, ns):
        i = bisect.bisect_right(self.starts, ns) - 1
        return self.timeline[i].what if i >= 0 else "unknown"

    def migrations(self):
        cpus = [cpu for _, _, cpu in self.on]
        return sum(a != b for a, b in zip(cpus, cpus[1:]))

    def culprits(self, cpus):
        """Time of those who had the CPU for which it waited, which may change within a wait."""
        ns = collections.Counter()
        starts = {cpu: [s.start for s in runs] for cpu, runs in cpus.items()}
        for (_, left, cpu), after in zip(self.on, self.on[1:] + [(self.end, 0, 0)]):
            if self.outs.get(left, "S")[0] != "R":
                continue
            steps = [(left, cpu)] + [m for m in self.moves if left <= m[0] < after[0]]
            for (at, where), until in zip(steps, [s[0] for s in steps[1:]] + [after[0]]):
                done = at
                runs = cpus.get(where, [])
                i = max(bisect.bisect_right(starts.get(where, []), at) - 1, 0)
                while i < len(runs) and runs[i].start < until:
                    piece = min(runs[i].end, until) - max(runs[i].start, done)
                    if piece > 0:
                        ns[runs[i].what] += piece
                        done = min(runs[i].end, until)
                    i += 1
                known = sum(max(min(r.end, until) - max(r.start, at), 0) for r in runs)
                if until - at - known > 0:
                    ns[0] += until - at - known
        return ns


def check_exits(name, thread, reported):
    count = collections.Counter(reason for _, reason in thread.exits)
    expect(f"{name} exits", {e["reason"]: e["count"] for e in reported}, dict(count))
    entries = [m[0] for m in thread.modes if m[1] == "guest"]
    parts = collections.defaultdict(collections.Counter)
    for i, (ns, reason) in enumerate(thread.exits):
        j = bisect.bisect_left(entries, ns)
        next_exit = thread.exits[i + 1][0] if i + 1 < len(thread.exits) else None
        if j == len(entries) or (next_exit is not None and next_exit < entries[j]):
            continue
        states = thread.totals(ns, entries[j])
        parts[reason] += states
        parts[reason]["complete"] += 1
        # asleep without having asked to: the monitor's answer is waited for, say
        if reason.removeprefix("L2:") not in ASKED and \
           not any(ns <= signal < entries[j] for signal in thread.signals):
            parts[reason]["unasked"] += states["blocked"]
    for e in reported:
        wanted = parts[e["reason"]]
        expect(f"{name} {e['reason']} complete", e["complete"], wanted["complete"])
        for state in COSTS + ("blocked",):
            expect(f"{name} {e['reason']} {state}", e["states_ns"].get(state, 0), wanted[state])
        expect(f"{name} {e['reason']} unasked", e.get("unasked_ns", 0), wanted["unasked"])
        expect(f"{name} {e['reason']} cost", e["total_ns"],
               sum(wanted[s] for s in COSTS + ("unasked",)))


def check_levels(name, thread, levels):
    """What the first exit left is known here from what follows it, there only if it was seen."""
    nested = sum(reason.startswith("L2:") for _, reason in thread.exits)
    if not levels:
        expect(f"{name} nested exits", 0, nested)
        return
    expect(f"{name} exits of all levels", levels["l1"] + levels["l2"] + levels["unknown"],
           len(thread.exits))
    expect(f"{name} exits of no level", levels["unknown"] <= 1, True)
    expect(f"{name} nested exits", levels["l2"] in (nested, nested - levels["unknown"]), True)
    expect(f"{name} multiplication", levels["multiplication"],
           round(levels["l1"] / levels["l2"], 6))


def check_vcpu(v, records, cpus, begin, end):
    name = v["vcpu"]
    thread = Thread(v["tid"], records, cpus, begin, end)
    wanted = thread.totals()
    # a state whose events were not recorded is unknown, and another one includes it
    for state, dist in v["states"].items():
        if dist["total_ns"] is not None:
            parts = [state] + dist.get("includes", "").split("+")
            expect(f"{name} {state}", dist["total_ns"], sum(wanted[part] for part in parts if part))
    expect(f"{name} sum of states", sum(d["total_ns"] or 0 for d in v["states"].values()), end - begin)
    expect(f"{name} migrations", v["migrations"], thread.migrations())
    check_exits(name, thread, v["exits"])
    check_levels(name, thread, v.get("exit_levels"))
    check_counts(v, [r for r in records if r.pid == v["tid"]])
    return thread


def check_counts(v, records):
    vectors = collections.Counter(int(re.search(r"0x[0-9a-f]+", r.info)[0], 16)
                                  for r in records if r.event == "kvm_inj_virq"
                                  and "[reinjected]" not in r.info and "INTn" not in r.info)
    expect(f"{v['vcpu']} interrupts", {i["vector"]: i["count"] for i in v["interrupts"]},
           dict(vectors))
    calls = collections.Counter(int(re.search(r"nr 0x([0-9a-f]+)", r.info)[1], 16)
                                for r in records if r.event == "kvm_hypercall")
    expect(f"{v['vcpu']} hypercalls", {h["nr"]: h["count"] for h in v["hypercalls"]}, dict(calls))


def check_culprits(v, thread, cpus, names):
    wanted = collections.Counter()
    for pid, ns in thread.culprits(cpus).items():
        wanted[names.get(pid, pid)] += ns
    got = collections.Counter()
    for c in v["culprits"]:
        who = c["who"]
        got[0 if who == "nobody" else who if who in names.values() else
            int(who.rpartition("-")[2])] += c["total_ns"]
    expect(f"{v['vcpu']} culprits", +got, +wanted)
    return wanted


def check_guest(guest, records, threads, begin, end):
    share = {}
    tasks = collections.defaultdict(lambda: [0, 0, 0, collections.Counter()])
    switches = collections.Counter()
    for cpu in guest["cpus"]:
        c, thread = cpu["cpu"], threads.get(cpu.get("vcpu"))
        if not thread:
            continue
        mine = [r for r in records if r.cpu == c]
        seen = collections.Counter(thread.state_at(r.ns) for r in mine if begin <= r.ns < end)
        expect(f"guest CPU {c} inside", cpu["inside"], seen["guest"])
        expect(f"guest CPU {c} outside", cpu["outside"],
               sum(seen.values()) - seen["guest"] - seen["unknown"])
        share[c] = (seen["guest"], sum(seen.values()) - seen["unknown"])
        for i, s in enumerate(occupants(mine, mine[-1].ns if mine else 0).get(c, [])):
            a, b = max(s.start, begin), min(s.end, end)
            # the first one had the CPU before; the last one may have it at the last record only
            if i and begin <= s.start < end:
                switches[s.what] += 1
            if a < b:
                ns = thread.totals(a, b)
                tasks[s.what][0] += b - a
                tasks[s.what][1] += ns["guest"]
                tasks[s.what][2] += ns["preempted"]
                tasks[s.what][3] += thread.executed_on(a, b)
    got = {t["pid"]: [t["believed_ns"], t["executed_ns"], t["steal_ns"],
                      {p["pcpu"]: p["executed_ns"] for p in t["pcpus"]}] for t in guest["tasks"]}
    expect("guest's tasks", got, {pid: tasks[pid] for pid in set(tasks) | set(switches)})
    expect("runs of guest's tasks", +collections.Counter({t["pid"]: t["runs"]
                                                          for t in guest["tasks"]}), switches)
    return share


def main():
    report = json.load(open(sys.argv[1]))
    records = read(sys.argv[2])
    begin, end = min(r.ns for r in records), max(r.ns for r in records) + 1
    expect("window", report["window_ns"], [begin, end])
    expect("records", report["volume"]["records"], len(records))
    expect("contradictions", report["contradictions"], [])
    tids = {r.pid for r in records if r.event in ("kvm_entry", "kvm_exit")}
    vcpus = [v for m in report["machines"] for v in m["vcpus"]]
    expect("threads of vCPUs", {v["tid"] for v in vcpus} >= tids, True)
    cpus = occupants(records, end)
    threads = {v["vcpu"]: check_vcpu(v, records, cpus, begin, end) for v in vcpus}
    names = {v["tid"]: v["vcpu"] for v in vcpus}
    exits = collections.Counter()
    for v in vcpus:
        thread = threads[v["vcpu"]]
        exits.update(reason for _, reason in thread.exits)
        culprits = check_culprits(v, thread, cpus, names)
        worst = ", ".join(f"{who} {ns / 1e6:.1f} ms" for who, ns in culprits.most_common(1))
        print(f"  {v['vcpu']}: {len(thread.exits)} exits, {thread.migrations()} migrations, "
              f"preempted by {worst or 'nobody'}")
    for m in report["machines"]:
        of = sum((collections.Counter({e["reason"]: e["count"] for e in v["exits"]})
                  for v in m["vcpus"]), collections.Counter())
        expect(f"{m['machine']} exits", {e["reason"]: e["count"] for e in m["exits"]}, dict(of))
    for guest, path in zip(report["guests"], sys.argv[3:]):
        for c, (inside, all_) in check_guest(guest, read(path), threads, begin, end).items():
            print(f"  guest CPU {c}: {inside} of {all_} records inside, "
                  f"{100 * inside / max(all_, 1):.3f} %")
    print(f"  {compared} numbers compared, {errors} differ")
    return errors > 0


if __name__ == "__main__":
    sys.exit(main())
