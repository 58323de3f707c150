#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check which exits "kshark-virt report --worst" takes for those of a guest's guest.

Usage: nested_exits.py WORST.json HOST.txt GUEST.txt

WORST.json comes from "report --worst 1000000 --kind exit --format json HOST", the texts from
"trace-cmd report -t" of each file. For a trace in which the guest's guest is l3vmm's: its code lies
below 64 KiB, where the guest itself, a Linux, has none. So the address in kvm_exit shows exit by
exit who left, without KVM's events of nested guests, which the report goes by. And KVM handed to the
guest what the guest's own trace shows as exits of its guest: as many, of the same reasons.
"""
import collections
import json
import re
import sys

# the flags, as "d.h1.", are there since trace-cmd 3.3
LINE = re.compile(r"^\s*.*-(\d+)\s+\[\d+\]\s*(?:[^\s\d]\S{3,5} +)?(\d+)\.(\d{9}): +([\w-]+): *(.*)$")
L3_END = 0x10000


def exits(path):
    """{(time in ns, reason): address} of all exits."""
    found = collections.defaultdict(list)
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if m and m[4] == "kvm_exit":
            reason = re.search(r"reason (?:EXIT_)?(\S+)", m[5])[1]
            found[int(m[2] + m[3])].append((reason, int(re.search(r"rip (\S+)", m[5])[1], 16)))
    return found


def count(path, event):
    return sum(f" {event}:" in line for line in open(path, errors="replace"))


def main():
    worst = json.load(open(sys.argv[1]))["worst"]
    host, guest = exits(sys.argv[2]), exits(sys.argv[3])
    reasons = collections.Counter(w["reason"][3:] for w in worst if w["nested"])
    inside = collections.Counter(r for all_ in guest.values() for r, _ in all_)
    errors = 0
    for w in worst:
        wanted = [("L2:" + r if rip < L3_END else r, rip < L3_END) for r, rip in host[w["time_ns"]]]
        if (w["reason"], w["nested"]) not in wanted:
            print(f"  {w['time_ns']}: {w['reason']}, nested: {w['nested']}; not {wanted}")
            errors += 1
    print(f"  {len(worst)} exits, out of the guest's guest: {dict(reasons)}")
    print(f"  the guest itself saw {dict(inside)}")
    nested = sum(rip < L3_END for all_ in host.values() for _, rip in all_)
    handed = count(sys.argv[2], "kvm_nested_vmexit_inject")
    # an exit without an entry after it has no cost, and is none of the worst
    errors += not nested - 1 <= sum(reasons.values()) <= nested or not nested
    errors += len(worst) < sum(map(len, host.values())) - 2 * 2
    errors += sum(inside.values()) != handed
    errors += any(reasons[r] != inside[r] for r in ("IOIO", "CPUID", "HLT"))
    return errors > 0


sys.exit(main())
