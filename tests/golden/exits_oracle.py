#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report --exits" of a KVM host against the fields that trace-cmd prints of its records.

Usage: exits_oracle.py EXITS.json EXITS.csv RAW.txt [FROM_NS TO_NS]

EXITS.* come from "kshark-virt report --exits" of one window, RAW.txt from "trace-cmd report -R -t". Of each
vCPU's thread, the first record between an exit and the entry that shows what exits of that reason are for is
counted, and the time up to the entry is the exit's cost: the reasons that are compared never ask for a wait.
"""
import collections
import csv
import json
import re
import sys

LINE = re.compile(r"^.*-(\d+)\s+\[(\d+)\]\S*\s+(?:[^\s\d]\S*\s+)?(\d+)\.(\d{9}): (\w+): +(.*)$")
# By instruction set and number of the reason: its name, and the events that show what for.
VMX = {
    10: ("CPUID", {"kvm_cpuid"}), 18: ("VMCALL", {"kvm_hypercall"}), 28: ("CR_ACCESS", {"kvm_cr"}),
    30: ("IO_INSTRUCTION", {"kvm_pio"}), 31: ("MSR_READ", {"kvm_msr"}), 32: ("MSR_WRITE", {"kvm_msr"}),
    48: ("EPT_VIOLATION", {"kvm_page_fault"}), 49: ("EPT_MISCONFIG", {"kvm_mmio", "kvm_fast_mmio"}),
    56: ("APIC_WRITE", {"kvm_apic"}),
}
SVM = {
    0x72: ("CPUID", {"kvm_cpuid"}), 0x7b: ("IOIO", {"kvm_pio"}), 0x7c: ("MSR", {"kvm_msr"}),
    0x81: ("VMMCALL", {"kvm_hypercall"}), 0x400: ("NPF", {"kvm_page_fault"}),
}
MSRS = {0x10: "TSC", 0x6e0: "TSC_DEADLINE", 0x80b: "X2APIC_EOI",
        0x819: "X2APIC_TMR1", 0x83f: "X2APIC_SELF", 0x830: "X2APIC_ICR"}
PORTS = {0x3f8: " (COM1)", 0x60: " (i8042 data)"}
PAGES = {0xfec00: " (I/O APIC)", 0xfed00: " (HPET)", 0xfee00: " (local APIC)"}
CALLS = {1: "VAPIC_POLL_IRQ", 5: "KICK_CPU"}
WAYS = "read", "write"
# Fields that trace-cmd prints in hexadecimal, with "0x" or without.
HEX = {"ecx", "function", "fault_address", "cr", "reg", "gpa", "port", "nr"}
OTHERS = {"write", "rw", "type", "data", "val"}


def icr(value):
    mode = {0: "fixed", 4: "NMI"}[value >> 8 & 7]
    return mode + {0: "", 3: ", to all others"}[value >> 18 & 3]


def argument(event, field):
    """What the report calls it."""
    number = {key: int(value, 16 if key in HEX else 0) for key, value in field.items()
              if key in HEX or (key in OTHERS and event != "kvm_pio")}
    if event == "kvm_pio":
        number["rw"] = int(field["rw"])
    if event == "kvm_msr":
        way, msr = WAYS[number["write"]], number["ecx"]
        name = f"{way} {MSRS.get(msr, f'MSR 0x{msr:x}')}"
        return f"{name} ({icr(number['data'])})" if msr == 0x830 and number["write"] else name
    if event == "kvm_pio":
        return f"{WAYS[number['rw']]} port 0x{number['port']:x}{PORTS.get(number['port'], '')}"
    if event in ("kvm_mmio", "kvm_fast_mmio"):
        return f"{WAYS[number.get('type', 2) == 2]} 0x{number['gpa']:x}{PAGES.get(number['gpa'] >> 12, '')}"
    if event == "kvm_page_fault":
        page = number["fault_address"] >> 12
        return f"page 0x{page << 12:x}{PAGES.get(page, '')}"
    if event == "kvm_cpuid":
        return f"leaf 0x{number['function']:x}"
    if event == "kvm_hypercall":
        return CALLS.get(number["nr"], f"call 0x{number['nr']:x}")
    if event == "kvm_cr":
        return f"{WAYS[number['rw']]} CR{number['cr']}"
    return {0x300: f"write APIC_ICR ({icr(number['val'])})", 0xb0: "write APIC_EOI"}[number["reg"]]


def fields(text):
    """A thread's name may have blanks: only what follows a "=" counts."""
    return {m[1]: m[2] for m in re.finditer(r"(\w+)=([^=]*?)(?= \w+=|$)", text)}


def exits_of(path):
    """By thread: [time, end or None, reason, argument or None]; and each thread's vCPU."""
    exits, vcpus = collections.defaultdict(list), {}
    last = {}
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        pid, ns, event, field = int(m[1]), int(m[3]) * 10**9 + int(m[4]), m[5], fields(m[6])
        if event == "kvm_exit":
            reasons = VMX if int(field["isa"], 0) == 1 else SVM
            reason = int(field["exit_reason"], 0)
            last[pid] = [ns, None, *reasons.get(reason, (f"#{reason}", ())), None]
            exits[pid].append(last[pid])
        elif event == "kvm_nested_vmexit" and pid in last:
            last[pid][2] = "L2:" + last[pid][2]
        elif event == "kvm_entry":
            vcpus[pid] = int(field["vcpu_id"], 0)
            if pid in last:
                last.pop(pid)[1] = ns
        elif pid in last and event in last[pid][3] and last[pid][4] is None:
            last[pid][4] = argument(event, field)
    return exits, vcpus


def plain(name):
    """A leaf may have a name after its number."""
    return re.sub(r"^(leaf 0x\w+) .*", r"\1", name)


def counts_of(row):
    """Exits, those with a cost, and the cost; it is null if none has any."""
    cost = row["cost"] or {"count": 0, "total_ns": 0}
    return row["count"], cost["count"], cost["total_ns"]


MOST = 64


def main(json_path, csv_path, raw_path, begin=None, end=None):
    exits, vcpus = exits_of(raw_path)
    begin = int(begin) if begin else -1
    end = int(end) if end else 2**63
    # the most frequent ones of the whole trace have a row each
    counts = collections.defaultdict(collections.Counter)
    for pid in exits:
        for _, _, reason, events, what in exits[pid]:
            if what:
                counts[reason][what] += 1
    many = {reason for reason, of in counts.items() if len(of) > MOST}
    wanted = collections.defaultdict(lambda: [0, 0, 0])
    for pid, vcpu in vcpus.items():
        for at, to, reason, events, what in exits[pid]:
            if not begin <= at < end or not events:
                continue
            for who in f"g1v{vcpu}", "all":
                row = wanted[who, reason, None if reason in many else what or "not recorded"]
                row[0] += 1
                row[1] += to is not None
                row[2] += to - at if to else 0
    got, sums = {}, {}
    for vcpu in json.load(open(json_path))["vcpus"]:
        for reason in vcpu["exits"]:
            key = vcpu["vcpu"], reason["reason"]
            sums[key] = counts_of(reason)
            parts = reason.get("arguments")
            if parts is None:
                continue
            total = tuple(sum(of) for of in zip(*(counts_of(p) for p in parts)))
            assert total == sums[key], (key, total, sums[key])
            assert sum(p["argument"] not in ("others", "not recorded") for p in parts) <= MOST
            for part in parts:
                name = None if key[1] in many else plain(part["argument"])
                row = got.setdefault((*key, name), [0, 0, 0])
                row[0] += part["count"]
                row[1] += counts_of(part)[1]
                row[2] += counts_of(part)[2]
                if name is None and part["argument"] not in ("others", "not recorded"):
                    # of the whole trace, not less than any without a row of its own
                    assert counts[key[1]][part["argument"]] >= sorted(counts[key[1]].values())[-MOST]
    assert got == dict(wanted), (sorted(set(map(str, got.items())) ^ set(map(str, wanted.items()))))
    rows = {}
    for row in csv.DictReader(open(csv_path)):
        value = tuple(int(row[key] or 0) for key in ("count", "cost_count", "cost_total_ns"))
        if row["argument"]:
            of = rows.setdefault((row["vcpu"], row["reason"]), [0, 0, 0])
            rows[row["vcpu"], row["reason"]] = [a + b for a, b in zip(of, value)]
        else:
            assert value == sums.pop((row["vcpu"], row["reason"])), row
    assert not sums
    print(f"{len(got)} arguments, {sum(row[0] for row in got.values())} exits agree")
    return not got


sys.exit(main(*sys.argv[1:]))
