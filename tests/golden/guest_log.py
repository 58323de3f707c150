#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Verdicts about warnings of a guest's kernel, against a recount.

    guest_log.py make FOLDER            write host.txt (the text of ftrace) and console.log, journal.log, journal.json
    guest_log.py check WHY.json WHY.text TRACE.txt OFFSET [TRUTH]
    guest_log.py xen WHY.json RECORDS.csv
    guest_log.py clock GUEST.dat FILE CLOCK             the same trace with the name of another clock
    guest_log.py placed WHY.json SIDECAR CLOCK

The trace has four vCPUs, each on its pCPU, with causes that are known. "check" counts from the text of ftrace what each
vCPU did in the window of each warning, by sched_switch, kvm_entry and kvm_exit alone.
"""
import csv
import json
import re
import sys

NS = 10**9
OFFSET = 90
END = 200
WAKERS = 4


def at(seconds):
    return round(seconds * NS)


class Host:
    """Records of threads on CPUs, in order of time."""

    def __init__(self):
        self.lines = []

    def add(self, time, comm, pid, cpu, text, irq=False):
        self.lines.append((time, "%16s-%-7d [%03d] %s %d.%09d: %s" % (
            comm, pid, cpu, "d.h1." if irq else "d..2.", time // NS, time % NS, text)))

    def switch(self, time, cpu, prev, state, following):
        self.add(time, prev[0], prev[1], cpu, "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> "
                 "next_comm=%s next_pid=%d next_prio=120" % (*prev, state, *following))

    def wake(self, time, vcpu, by=("libvirtd", 812)):
        self.add(time, *by, WAKERS, "sched_wakeup: comm=%s pid=%d prio=120 target_cpu=%03d" % (*thread(vcpu), vcpu))

    def entry(self, time, vcpu):
        self.add(time, *thread(vcpu), vcpu, "kvm_entry: vcpu %d, rip 0x1" % vcpu)

    def exit(self, time, vcpu, reason):
        self.add(time, *thread(vcpu), vcpu, "kvm_exit: vcpu %d reason %s rip 0x1 info1 0x0 info2 0x0" % (vcpu, reason))


def thread(vcpu):
    return "CPU %d/KVM" % vcpu, 2000 + vcpu


def idle(cpu):
    return "swapper/%d" % cpu, 0


def make_trace(host):
    for vcpu in range(4):
        host.switch(at(100) + vcpu, vcpu, idle(vcpu), "R", thread(vcpu))
        host.entry(at(100) + 1000 + vcpu, vcpu)
    # vCPU 0: a page fault of 4 s, a sleep that the guest asks for, a task of the host
    host.exit(at(110), 0, "EPT_VIOLATION")
    host.switch(at(110) + 5000, 0, thread(0), "D", idle(0))
    host.wake(at(114), 0)
    host.switch(at(114) + 2000, 0, idle(0), "R", thread(0))
    host.entry(at(114) + 9000, 0)
    host.exit(at(120), 0, "HLT")
    host.switch(at(120) + 3000, 0, thread(0), "S", idle(0))
    host.wake(at(145), 0)
    host.switch(at(145) + 1000, 0, idle(0), "R", thread(0))
    host.entry(at(145) + 2000, 0)
    host.exit(at(150), 0, "EXTERNAL_INTERRUPT")
    host.switch(at(150) + 1000, 0, thread(0), "R", ("dd", 900))
    host.switch(at(172), 0, ("dd", 900), "S", thread(0))
    host.entry(at(172) + 1000, 0)
    # vCPU 1: stopped for 25 s by a signal
    host.exit(at(103), 1, "EXTERNAL_INTERRUPT")
    host.add(at(103) + 500, *thread(1), 1, "kvm_userspace_exit: reason restart (4)")
    host.switch(at(103) + 1000, 1, thread(1), "T", idle(1))
    host.wake(at(128), 1)
    host.switch(at(128) + 1000, 1, idle(1), "R", thread(1))
    host.entry(at(128) + 5000, 1)
    # vCPU 2: spins, with a VM exit of 20 us each second
    for second in range(101, END):
        host.exit(at(second), 2, "EXTERNAL_INTERRUPT")
        host.entry(at(second) + 20000, 2)
    # vCPU 3: 5 ms of each 100 ms, up to 140 s
    for tenth in range(1010, 1400):
        host.exit(at(tenth / 10), 3, "EXTERNAL_INTERRUPT")
        host.switch(at(tenth / 10) + 1000, 3, thread(3), "R", idle(3))
        host.switch(at(tenth / 10) + 95000000, 3, idle(3), "R", thread(3))
        host.entry(at(tenth / 10) + 95001000, 3)
    for vcpu in range(4):
        host.exit(at(END) + vcpu, vcpu, "EXTERNAL_INTERRUPT")


# (time on the host's axis or None, message, verdict or problem)
LOG = [
    (700.0, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [old:4]", "other_boot"),
    (99.0, "Linux version 6.12.0", None),
    (105.0, "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [a:1]", "not_covered"),
    (114.000010, "smp: csd: Detected non-responsive CSD lock (#1) on CPU#2, waiting 4000000032 ns for CPU#00 f+0x0/0x1(0x0).",
     "host"),
    (128.000006, "watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [stress:1234]", "host"),
    (135.0, "rcu: INFO: rcu_preempt self-detected stall on CPU", "host"),
    (135.000001, "rcu: \t3-....: (20999 ticks this GP) idle=f34/1/0x4000000000000000 softirq=1/1 fqs=5250", None),
    (135.000002, "rcu: \t(t=21000 jiffies g=1 q=2 ncpus=4)", None),
    (140.0, "watchdog: Watchdog detected hard LOCKUP on cpu 0", "asleep"),
    (150.0, "watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [spin:7]", "guest"),
    (151.0, "NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!", "no_span"),
    (152.0, "watchdog: BUG: soft lockup - CPU#9 stuck for 22s! [a:1]", "no_vcpu"),
    (172.000002, "watchdog: BUG: soft lockup - CPU#0 stuck for 21s! [b:2]", "host"),
    (195.0, "INFO: task jbd2/vda1-8:99 blocked for more than 10 seconds.", "not_host"),
    (None, "hrtimer: interrupt took 5012345 ns", "no_time"),
    (230.0, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [c:3]", "not_covered"),
]


def micros(time):
    return round((time - OFFSET) * 10**6)


def make(folder):
    host = Host()
    make_trace(host)
    with open(folder + "/host.txt", "w") as file:
        file.write("# tracer: nop\n#\n")
        file.writelines(line + "\n" for _, line in sorted(host.lines, key=lambda line: line[0]))
    logs = {name: open("%s/%s" % (folder, name), "w") for name in ("console.log", "journal.log", "journal.json")}
    for time, text, _ in LOG:
        stamp = "" if time is None else "[%5d.%06d] " % divmod(micros(time), 10**6)
        logs["console.log"].write(stamp + text + "\r\n")
        # the journal has a time for each line
        stamp = stamp or "[   99.000000] "
        logs["journal.log"].write(stamp + "web kernel: " + text + "\n")
        entry = {"_TRANSPORT": "kernel", "MESSAGE": text}
        if time is not None:
            entry["_SOURCE_MONOTONIC_TIMESTAMP"] = str(micros(time))
        logs["journal.json"].write(json.dumps(entry) + "\n")


LINE = re.compile(r"^ *(.*)-(\d+) +\[(\d+)\] +\S+ +(\d+)\.(\d+): (\w+): (.*)$")


def states_of(path):
    """{thread: [(time, state)]} of the threads of vCPUs: what they do from each time on."""
    states = {}
    for line in open(path):
        match = LINE.match(line)
        if not match:
            continue
        time = int(match[4]) * NS + int(match[5].ljust(9, "0"))
        pid, event, text = int(match[2]), match[6], match[7]
        if event == "kvm_entry":
            states.setdefault(pid, []).append((time, "guest"))
        elif event == "kvm_exit":
            states.setdefault(pid, []).append((time, "exit " + text.split()[3]))
        elif event == "sched_switch":
            gone = int(re.search(r"prev_pid=(\d+)", text)[1])
            come = int(re.search(r"next_pid=(\d+)", text)[1])
            if re.search(r"next_comm=CPU \d+/KVM", text):
                states.setdefault(come, [])
            if gone in states:
                last = next(s for _, s in reversed(states[gone]) if s.startswith("exit"))
                off = re.search(r"prev_state=(\w)", text)[1]
                states[gone].append((time, {"R": "off", "T": "stopped"}.get(off, "asleep " + last[5:])))
            if come in states:
                # until the next entry, its VM exit is handled
                slept = any(s == "asleep HLT" for _, s in states[come][-2:])
                states[come].append((time, "on HLT" if slept else "on"))
        elif event == "sched_wakeup":
            woken = int(re.search(r" pid=(\d+)", text)[1])
            states[woken].append((time, "off"))
    return states


def side_of(state):
    return "guest" if state == "guest" else "asleep" if state in ("exit HLT", "asleep HLT", "on HLT") else "host"


def count(states, begin, end, window):
    """ns by side of a window."""
    sides = dict.fromkeys(("guest", "host", "asleep", "unknown"), 0)
    for (time, state), (until, _) in zip(states, states[1:] + [(end, None)]):
        ns = min(until, window[1]) - max(time, window[0])
        if ns > 0:
            sides[side_of(state)] += ns
    sides["unknown"] = window[1] - window[0] - sum(sides.values())
    return sides


def word_of(sides, ns):
    """The verdict that holds whichever side has the unknown time."""
    words = set()
    for side in ("guest", "host", "asleep"):
        all_of_it = dict(sides, **{side: sides[side] + sides["unknown"]})
        words.add("host" if 2 * all_of_it["host"] >= ns else "guest" if 10 * all_of_it["guest"] >= 9 * ns
                  else "asleep" if 2 * all_of_it["asleep"] >= ns else "both")
    return words.pop() if len(words) == 1 else "not_covered"


def machine_word(mine, ns):
    words = {"host" if 2 * kept >= ns else "not_host" if 10 * kept <= ns else "both"
             for kept in (max(s["host"] for s in mine.values()),
                          max(s["host"] + s["unknown"] for s in mine.values()))}
    return words.pop() if len(words) == 1 else "not_covered"


def check_answer(answer, states, begin, end):
    window = answer["window_ns"]
    ns = window[1] - window[0]
    assert ns == answer["span_ns"] and window[1] == answer["time_ns"], answer
    assert sum(part or 0 for part in answer["parts"].values()) == ns, answer
    mine = {pid: count(states[pid], begin, end, window) for pid in states}
    sides = mine[2000 + int(answer["subject"][-1])]
    theirs = {side: answer[side + "_ns"] for side in sides}
    # the last record is 1 ns before the end of the trace
    assert all(abs(theirs[side] - sides[side]) <= 3 for side in sides), (answer["text"], theirs, sides)
    if "other" in answer:
        others = {pid: mine[pid]["host"] for pid in mine if pid != 2000 + int(answer["subject"][-1])}
        assert abs(answer["other_host_ns"] - max(others.values())) <= 3, (answer, others)
    if answer["cpu"] is None:
        most = max(sides["host"] for sides in mine.values())
        assert abs(answer["host_ns"] - most) <= 3, (answer, mine)
        assert answer["verdict"] == machine_word(mine, ns), (answer, mine)
    else:
        assert answer["subject"].endswith(str(answer["cpu"])), answer
        assert answer["verdict"] == word_of(sides, ns), (answer, sides)
    for name in ("culprits", "exits"):
        assert sum(one["total_ns"] for one in answer[name]) <= ns
    if "longest" in answer:
        longest = answer["longest"]["window_ns"]
        assert window[0] <= longest[0] < longest[1] <= window[1], answer
        assert longest[1] - longest[0] <= answer["host_ns"], answer
        top = answer["longest"]["segments"]
        assert sum(s["to_ns"] - s["from_ns"] for s in top) == longest[1] - longest[0], answer


def check(why, text, trace, offset, truth):
    answers = json.load(open(why))["answers"]
    words = open(text).read()
    states = states_of(trace)
    begin, end = min(s[0][0] for s in states.values()), max(s[-1][0] for s in states.values())
    wanted = [one for one in LOG if one[2]]
    assert len(answers) == len(wanted), (len(answers), len(wanted))
    for answer, (time, message, verdict) in zip(answers, wanted):
        assert answer["text"] == message and message in words, (answer, message)
        if truth:
            assert (answer["problem"] or answer["verdict"]) == verdict, (answer, verdict)
        if answer["problem"] in ("no_time", "other_boot"):
            assert "time_ns" not in answer, answer
        else:
            assert answer["time_ns"] == round(time * 10**6) * 1000 + round((offset - OFFSET) * NS), answer
        if not answer["problem"]:
            check_answer(answer, states, begin, end)
    print(sum(not answer["problem"] for answer in answers))


def xen(why, records):
    """Runstates of d1v0, by the records of the trace."""
    answer = json.load(open(why))["answers"][0]
    window, parts, last = answer["window_ns"], dict.fromkeys(("running", "runnable", "blocked", "offline"), 0), None
    for row in csv.DictReader(open(records)):
        new = re.search(r"vcpu=%s .*new=(\w+)" % answer["subject"], row["info"])
        if not new:
            continue
        time = int(row["time_ns"])
        if last:
            parts[last[1]] += max(0, min(time, window[1]) - max(last[0], window[0]))
        last = time, new[1]
    parts[last[1]] += max(0, window[1] - max(last[0], window[0]))
    ours = answer["parts"]
    assert sum(parts.values()) == sum(part or 0 for part in ours.values()) == window[1] - window[0], (parts, ours)
    assert parts["running"] == ours["guest_ns"] + ours["hypervisor_ns"], (parts, ours)
    assert parts["runnable"] == ours["preempted_ns"] + ours["waking_ns"], (parts, ours)
    assert parts["blocked"] == ours["blocked_ns"] + ours["unasked_ns"], (parts, ours)


def clock(source, target, name):
    data = open(source, "rb").read()
    assert data.count(b"perf [mono]") == 1 and data.count(b"\0mono\0") == 1
    if name == "perf":
        data = data.replace(b"perf [mono]", b"[perf] mono").replace(b"\0mono\0", b"\0perf\0")
    open(target, "wb").write(data)


def placed(why, sidecar, name):
    """By the alignment that is stored."""
    answer, = json.load(open(why))["answers"]
    alignment = json.load(open(sidecar))["alignment"]
    tids = {vcpu["guest_cpu"]: vcpu["tid"] for vcpu in alignment["vcpus"]}
    if name == "mono":
        assert answer["problem"] == "no_place" and "time_ns" not in answer, answer
        return
    assert answer["placed_by"] == ("offset" if name == "offset" else "guest_trace"), answer
    assert answer["time_ns"] == 34500000000 + alignment["offset"], (answer, alignment)
    assert answer["subject"] == "g1v%d" % (tids[1] - min(tids.values())), answer
    assert sum(part or 0 for part in answer["parts"].values()) == 300000000, answer


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "check":
        check(*sys.argv[2:5], float(sys.argv[5]), len(sys.argv) > 6)
    elif sys.argv[1] == "clock":
        clock(*sys.argv[2:5])
    elif sys.argv[1] == "placed":
        placed(*sys.argv[2:5])
    else:
        xen(*sys.argv[2:4])
