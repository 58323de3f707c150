#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does a machine of Perfetto's trace have the records that trace-cmd prints, and what follows from them?

perfetto_records.py TRACE MACHINE=TEXT...	files with the text of trace-cmd report -t -R

Of each CPU and event the records and their fields, in order, and of each CPU and thread the time that sched_switch gives
it, in the window of the trace: that of the host's records. Prints for each machine how many fields were compared.
"""
import collections
import re
import sys

import perfetto_trace

LINE = re.compile(r"^.*-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}): (\S+?):\s*(.*)$")
# Events whose numbers are printed in base 16 without a mark.
HEX = {"kvm_msr", "kvm_cpuid", "kvm_emulate_insn"}
# Printed as the format casts it; names of functions, which timers and print have, are in no record.
CAST = {("print", "ip"), ("kvm_msi_set_irq", "data"), ("kvm_apic_ipi", "icr_low")}
FIELD = re.compile(r"(\w+)=(.*?)(?=\s+\w+=|$)")


def window(trace):
    return trace.execute("SELECT min(ts), max(ts + dur) FROM state").fetchone()


def printed(path, first, last):
    """Return: of each CPU and event, the fields of each record; of each CPU and thread, its time."""
    records, times, on = collections.defaultdict(list), collections.Counter(), {}
    with open(path, errors="replace") as text:
        lines = [found for found in map(LINE.match, text) if found]
    for found in lines:
        cpu, time = int(found[2]), int(found[3]) * 10 ** 9 + int(found[4])
        if not first <= time < last:
            continue
        records[cpu, found[5]].append(dict(FIELD.findall(found[6])))
        if found[5] == "sched_switch":
            tid = int(re.search(r" next_pid=(\d+)", found[6])[1])
            if cpu in on:
                times[cpu, on[cpu][0]] += time - on[cpu][1]
            on[cpu] = tid, time
    return records, times


def is_same(value, text, base):
    """A text, or a number of 64 bits, which has a sign or not."""
    if str(value) == text:
        return True
    try:
        number = int(text, 16 if text.startswith("0x") else base)
        return (int(value) - number) % (1 << 64) == 0
    except ValueError:
        return False


def compare_fields(trace, machine, of, records):
    """Return: how many fields were compared."""
    at, compared = collections.Counter(), collections.Counter()
    args = collections.defaultdict(dict)
    for number, key, value in trace.execute("SELECT arg_set_id, key, coalesce(string_value, int_value) FROM args"):
        args[number][key] = value
    for cpu, name, number in trace.execute(
            "SELECT cpu.cpu, f.name, arg_set_id FROM ftrace_event f %s ORDER BY f.rowid" % of, (machine,)):
        text = records[cpu, name][at[cpu, name]]
        at[cpu, name] += 1
        for key, value in args[number].items():
            if key not in text or (name, key) in CAST or key == "function" and "timer" in name:
                continue
            if not is_same(value, text[key], 16 if name in HEX else 10):
                sys.exit("%s: %s of %s is %r instead of %r" % (machine, key, name, value, text[key]))
            compared[name, key] += 1
    for key in (("sched_switch", "prev_comm"), ("sched_switch", "next_pid"), ("sched_switch", "prev_state"),
                ("sched_wakeup", "target_cpu")):
        if not compared[key]:
            sys.exit("%s: no %s of %s was compared" % (machine, *reversed(key)))
    return sum(compared.values())


def compare(trace, machine, path):
    records, times = printed(path, *window(trace))
    counts = collections.Counter({key: len(of_it) for key, of_it in records.items()})
    of = "JOIN cpu USING (ucpu) JOIN machine ON machine.id = cpu.machine_id AND machine.name = ?"
    found = {(cpu, name): n for cpu, name, n in trace.execute(
        "SELECT cpu.cpu, f.name, count(*) FROM ftrace_event f %s GROUP BY 1, 2" % of, (machine,))}
    ran = {(cpu, tid): ns for cpu, tid, ns in trace.execute(
        "SELECT cpu.cpu, tid, sum(dur) FROM sched %s JOIN thread USING (utid) WHERE dur >= 0 GROUP BY 1, 2" % of,
        (machine,))}
    for what, mine, theirs in (("records", found, counts), ("ns", ran, times)):
        for key in sorted(set(mine) | set(theirs)):
            if mine.get(key, 0) != theirs[key]:
                sys.exit("%s: %s of %s: %d instead of %d" % (machine, what, key, mine.get(key, 0), theirs[key]))
    return compare_fields(trace, machine, of, records)


def main():
    trace = perfetto_trace.read(sys.argv[1])
    print(*(compare(trace, *pair.split("=", 1)) for pair in sys.argv[2:]))


main()
