# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ended the waits of a guest's vCPUs, by the host's trace alone, against the guest's own trace.

waits_truth.py TABLES GUEST.txt MACHINE CAUSE TIMES
waits_truth.py TABLES GUEST.txt MACHINE names WAITS.json

TABLES are those of "kshark-virt export" of the host, the text is "trace-cmd report -t" of the guest, which has
irq_vectors, irq_handler_entry and sched_switch. MACHINE is the guest's name.

A vCPU that sleeps goes on with the interrupts that have come: the guest handles them before it does anything
else. Several may have come by then, of which it takes the one with the highest vector first, whichever came first.
So the reported cause must be among those that are handled up to the next switch of tasks or the next wait. The
cause of the times is certain that far, and no further. That is printed: of each cause the share of the time
blocked that is reported, and between which shares it is by the guest's trace.

Waits that the guest did not ask for (is_unasked) end without it: it has no records of them. CAUSE is what
at least this many waits of the phase, marked by "begin" and "end" in the guest's trace, must have been ended by.

With "names", the devices that "kshark-virt report --waits --format json HOST GUEST" names must be those whose handler
the guest's trace shows next, after nearly all wake-ups by their vector.
"""
import bisect
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"^\s*.*-\d+\s+\[(\d+)\]\s*(?:[^\s\d]\S{3,5} +)?(\d+)\.(\d{9}): +([\w-]+): *(.*)$")
INTERRUPTS = {"local_timer_entry": "timer", "irq_handler_entry": "device", "reschedule_entry": "vcpu",
              "call_function_entry": "vcpu", "call_function_single_entry": "vcpu"}
# of waits that the guest asked for: a vCPU that polls is woken by another one without an interrupt
LEAST_AMONG = 0.98


def table(folder, name):
    with open("%s/%s.csv" % (folder, name), newline="") as file:
        return list(csv.DictReader(file))


def read_guest(path):
    """Of each CPU, times of interrupts and switches, and what each is; the phase."""
    events = collections.defaultdict(list)
    phase = [None, None]
    times = []
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        times.append(int(m[2]) * 10**9 + int(m[3]))
        if m[4] in INTERRUPTS:
            events[int(m[1])].append((times[-1], INTERRUPTS[m[4]]))
        elif m[4] == "sched_switch":
            events[int(m[1])].append((times[-1], None))
        elif m[4] == "print" and "begin " in m[5]:
            phase[0] = times[-1]
        elif m[4] == "print" and "end " in m[5]:
            phase[1] = times[-1]
    return events, min(times), max(times), phase


def waits_of(folder, machine):
    """By the number of the vCPU: begin, end, cause of each wait, and whether the guest asked for it."""
    names = {row["id"]: row["name"] for row in table(folder, "machine")}
    numbers = {row["id"]: int(row["number"]) for row in table(folder, "vcpu")
               if names[row["machine"]] == machine}
    waits = collections.defaultdict(list)
    for row in table(folder, "interval"):
        if row["state"] == "blocked" and row["vcpu"] in numbers:
            waits[numbers[row["vcpu"]]].append((int(row["start_ns"]), int(row["end_ns"]),
                                                row["detail"] or "unknown", row["is_unasked"] == "1"))
    return waits


def judge_names(folder, text, machine, path):
    """What handled the vectors of devices, wake-up by wake-up, and what the report calls them."""
    handlers = collections.defaultdict(list)
    for m in map(LINE.match, open(text, errors="replace")):
        if m and m[4] == "irq_handler_entry":
            handlers[int(m[1])].append((int(m[2]) * 10**9 + int(m[3]), m[5].split("name=")[1]))
    names = {row["id"]: (row["name"], int(row["number"])) for row in table(folder, "vcpu")}
    seen = collections.defaultdict(collections.Counter)
    for row in table(folder, "wake"):
        name, number = names[row["vcpu"]]
        after = bisect.bisect_left(handlers[number], (int(row["time_ns"]), ""))
        if row["cause"] == "device" and after < len(handlers[number]):
            seen[name, int(row["vector"])][handlers[number][after][1]] += 1
    with open(path) as file:
        named = {(one["vcpu"], one["vector"]): one["name"]
                 for one in next(of for of in json.load(file)["machines"] if of["machine"] == machine)["wakers"]
                 if one["cause"] == "device" and "name" in one}
    for key, name in sorted(named.items()):
        count, total = seen[key][name], sum(seen[key].values())
        print("%s, vector 0x%02x: %s handles it after %d of %d wake-ups" % (*key, name, count, total))
        if count < 0.9 * total:
            sys.exit("FAILED: others do: %s" % seen[key])
    if not named:
        sys.exit("FAILED: no device has a name")


def main():
    if sys.argv[4] == "names":
        judge_names(*sys.argv[1:4], sys.argv[5])
        return
    folder, text, machine, cause, times = sys.argv[1:]
    events, first, last, phase = read_guest(text)
    phase = (phase[0] or first, phase[1] or last)
    reported, least, most, in_phase = (collections.Counter() for _ in range(4))
    n = among = same = unasked = 0
    for number, waits in sorted(waits_of(folder, machine).items()):
        for i, (start, end, what, is_unasked) in enumerate(waits):
            if start < first or end > last or i + 1 == len(waits):
                continue
            if is_unasked:
                unasked += 1
                continue
            handled = []
            for time, kind in events[number][bisect.bisect_left(events[number], (end, "")):]:
                if kind is None or time >= waits[i + 1][0]:
                    break
                handled.append(kind)
            n += 1
            among += what in handled
            same += handled[:1] == [what]
            reported[what] += end - start
            if phase[0] <= start and end <= phase[1]:
                in_phase[what] += 1
            for kind in set(handled):
                most[kind] += end - start
            if len(set(handled)) == 1:
                least[handled[0]] += end - start
    total = sum(reported.values())
    print("%d waits, %d more that the guest did not ask for; in the phase, %d by %s"
          % (n, unasked, in_phase[cause], cause))
    print("%.1f %% are ended by one of the interrupts that the guest handles next, %.1f %% by the first one"
          % (100 * among / n, 100 * same / n))
    for what in sorted(reported, key=reported.get, reverse=True):
        print("  %-8s %6.2f %% of the time; by the guest's trace %6.2f to %6.2f %%"
              % (what, 100 * reported[what] / total, 100 * least[what] / total, 100 * most[what] / total))
    bad = []
    if among < LEAST_AMONG * n or n < 100:
        bad.append("too few")
    # what no interrupt ended is in no bound
    spare = (1 - LEAST_AMONG) * total
    for what in set(reported) | set(most):
        if not least[what] - spare <= reported[what] <= most[what] + spare:
            bad.append("%s is out of bounds" % what)
    if in_phase[cause] < int(times):
        bad.append("%d waits of the phase are ended by %s" % (in_phase[cause], cause))
    if bad:
        sys.exit("FAILED: " + ", ".join(bad))


main()
