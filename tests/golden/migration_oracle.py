#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""migration_oracle.py CSV SOURCE TARGET QEMU: is what "migration" prints what trace-cmd's text and QEMU say?

SOURCE and TARGET are texts of "trace-cmd report -t", QEMU what its monitors said ("info migrate", events of QMP with
time stamps). The blackout is QEMU's downtime within 5 %; last and first moments, VM exits for memory and dirty logging
are recounted; the parts add up.
"""
import csv
import re
import sys

LINE = re.compile(r"^\s*(?P<task>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?:\S+\s+)?(?P<s>\d+)\.(?P<ns>\d{9}): "
                  r"(?P<event>\S+):\s+(?P<text>.*)$")
STATES = ("guest hypervisor polling vmm preempted waking blocked device_model offline unknown").split()
failed = []


def check(what, is_so):
    if not is_so:
        failed.append(what)


def records(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        for line in text:
            found = LINE.match(line)
            if found:
                yield (int(found["s"]) * 10**9 + int(found["ns"]), found["task"], found["event"], found["text"])


def read(path):
    """Entries, exits, exits for memory, exits of dirty logging by vCPU; the first moment of a migration thread."""
    entries, exits, faults, dirty = [], [], [], []
    last, first, threads, noted = {}, {}, set(), set()
    for ns, task, event, text in records(path):
        vcpu = re.match(r"CPU (\d+)/KVM", task)
        vcpu = int(vcpu[1]) if vcpu else None
        if event == "sched_switch":
            # its first name is the monitor's
            number = re.search(r"==> .*:(\d+) \[", text)[1]
            first.setdefault(number, ns)
            threads |= set(re.findall(r"(?:live_migration|return path):(\d+) \[", text))
        elif vcpu is None:
            continue
        elif event == "kvm_entry":
            entries.append((ns, vcpu))
            if vcpu in noted:
                dirty.append((last[vcpu], vcpu))
            noted.discard(vcpu)
            last.pop(vcpu, None)
        elif event == "kvm_exit":
            exits.append((ns, vcpu))
            last[vcpu] = ns
            if "EXIT_NPF" in text:
                faults.append((ns, vcpu))
        elif event == "fast_page_fault" and vcpu in last:
            # AMD's page tables: bit 1 is the right to write
            old, new = (int(value, 16) for value in re.search(r"old (?:0x)?(\w+) new (?:0x)?(\w+)", text).groups())
            if not old & 2 and new & 2:
                noted.add(vcpu)     # counts when the exit is over
    return entries, exits, faults, dirty, min((first[pid] for pid in threads if pid in first), default=None)


with open(sys.argv[1], encoding="utf-8") as text:
    rows = list(csv.DictReader(text))
phases = {row["phase"]: row for row in rows if not row["vcpu"]}
vcpus = sorted({int(row["vcpu"]) for row in rows if row["vcpu"]})
source, target = read(sys.argv[2]), read(sys.argv[3])
with open(sys.argv[4], encoding="utf-8") as text:
    qemu = text.read()

# moments
stop_ns = max(ns for ns, _ in source[1])
start_ns = min(ns for ns, _ in target[0])
check("the last moment on the source", int(phases["blackout"]["from_ns"]) == stop_ns)
check("the first moment of the migration thread", int(phases["brown-out"]["from_ns"]) == source[4])
offset_ns = int(phases["blackout"]["to_ns"]) - start_ns

# QEMU's truth
downtime_ns = int(re.search(r"downtime: (\d+) ms", qemu)[1]) * 10**6
blackout_ns = int(phases["blackout"]["ns"])
check(f"blackout {blackout_ns} ns, QEMU's downtime {downtime_ns} ns", abs(blackout_ns / downtime_ns - 1) <= 0.05)
check("the downtime is within the limits", int(phases["blackout"]["least_ns"]) <= downtime_ns <=
      int(phases["blackout"]["most_ns"] or 1 << 62))

# faults
for row in rows:
    if row["phase"] == "blackout":
        continue
    side, shift_ns = (source, 0) if row["phase"] in ("before", "brown-out") else (target, offset_ns)
    begin_ns, end_ns = int(row["from_ns"]) - shift_ns, int(row["to_ns"]) - shift_ns

    def count(moments):
        return sum(begin_ns <= ns < end_ns and (not row["vcpu"] or vcpu == int(row["vcpu"])) for ns, vcpu in moments)

    check(f"faults of {row['phase']} {row['vcpu']}", count(side[2]) == int(row["faults"]))
    if row["dirty_faults"]:
        check(f"dirty logging of {row['phase']} {row['vcpu']}", count(side[3]) == int(row["dirty_faults"]))

# parts add up
order = ["before", "brown-out", "blackout", "brown-in", "after"]
check("all phases", [row["phase"] for row in rows if not row["vcpu"]] == order)
for one, other in zip(order, order[1:]):
    check(f"{one} ends where {other} begins", phases[one]["to_ns"] == phases[other]["from_ns"])
for row in rows:
    ns = sum(int(row[state + "_ns"]) for state in STATES)
    check(f"states of {row['phase']} {row['vcpu']}", ns == int(row["ns"]) * (1 if row["vcpu"] else len(vcpus)))
    check(f"lost time of {row['phase']} {row['vcpu']}",
          int(row["steal_ns"]) + int(row["stopped_ns"]) <= int(row["lost_ns"]) <= ns)

if failed:
    sys.exit("wrong: " + "; ".join(failed))
print(f"{len(rows)} rows; blackout {blackout_ns / 1e6:.1f} ms, QEMU's downtime {downtime_ns / 1e6:.0f} ms: "
      f"{100 * (blackout_ns / downtime_ns - 1):+.2f} %")
