#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""exits.py TRACE KSHARK-VIRT [MACHINE.TXT]: are VM exits those that others have counted?

report's count of each reason, for each vCPU, is compared with trace-cmd's text, where the format that the kernel has put
into the trace names reasons; and with MACHINE.TXT, what machine.c printed of each vCPU."""

import collections
import csv
import re
import subprocess
import sys

# exits of machine.c in a round; and those of reads, writes and mmio
ROUND = {"arm64": {"HVC64": 1, "DABT_LOW": 1},
         "x86": {"CPUID": 1, "MSR_READ": 1, "MSR_WRITE": 1, "CR_ACCESS": 1, "VMCALL": 1, "HLT": 1}}
MONITOR = {"arm64": {"DABT_LOW": ("mmio",)}, "x86": {"IO_INSTRUCTION": ("reads", "writes")}}


def by_report(trace, program):
    """{(thread, reason): number}, {thread: number of its vCPU}"""
    def report(*how):
        return subprocess.run([program, "report", "-q", "--full", *how, trace], check=True, capture_output=True,
                              text=True).stdout
    # "web v0  g1v0  thread 138", and without the first if the machine has no name
    threads = {name: int(thread)
               for name, thread in re.findall(r"^(\S+ ?v\d+)(?:  \S+)?  thread (\d+)$", report(), re.M)}
    rows = csv.DictReader(report("--format", "csv").splitlines())
    return {(threads[row["vcpu"]], row["name"]): int(row["count"])
            for row in rows if row["section"] == "exits" and row["vcpu"]}, \
           {thread: int(name.rsplit("v", 1)[1]) for name, thread in threads.items()}


def by_trace_cmd(trace):
    """{(thread, reason): number}"""
    text = subprocess.run(["trace-cmd", "report", "-N", "-i", trace], check=True, capture_output=True,
                          text=True, errors="replace").stdout
    found = collections.Counter()
    for line in text.splitlines():
        match = re.match(r"\s*\S.*-(\d+) +\[\d+\].* kvm_exit: +(.*)", line)
        if not match:
            continue
        reason = re.search(r"reason (\w+)|TRAP: HSR_EC: \w+ \((\w+)\)|^(\w+): HSR_EC", match[2])
        found[int(match[1]), next(filter(None, reason.groups()))] += 1
    return found


def by_machine(name, vcpus, reasons):
    """{(thread, reason): number} of those reasons that machine.c is the only one to cause"""
    cpu = "arm64" if "HVC64" in reasons else "x86"
    found = {}
    with open(name, encoding="ascii") as lines:
        for line in lines:
            number = int(re.match(r"\S+ v(\d+): ", line)[1])
            done = {what: int(n) for n, what in re.findall(r"(\d+) (\w+)", line)}
            thread = next(thread for thread, vcpu in vcpus.items() if vcpu == number)
            for reason, times in ROUND[cpu].items():
                found[thread, reason] = times * done["rounds"]
            for reason, what in MONITOR[cpu].items():
                found[thread, reason] = found.get((thread, reason), 0) + sum(done[one] for one in what)
    return found


def main():
    """Compare, print differences, and the numbers of all. Return: whether there are none."""
    found, vcpus = by_report(*sys.argv[1:3])
    others = by_trace_cmd(sys.argv[1])
    wrong = [(key, found.get(key), others.get(key)) for key in found.keys() | others.keys()
             if found.get(key) != others.get(key)]
    if len(sys.argv) > 3:
        expected = by_machine(sys.argv[3], vcpus, {reason for _, reason in found})
        wrong += [(key, found.get(key), n) for key, n in expected.items() if found.get(key) != n]
    for (thread, reason), n, other in sorted(wrong, key=str):
        print(f"thread {thread}: {reason}: {n} by report, {other} by others")
    reasons = collections.Counter()
    for (_, reason), n in found.items():
        reasons[reason] += n
    print(", ".join(f"{n} {reason}" for reason, n in reasons.most_common()))
    return bool(found) and not wrong


sys.exit(not main())
