#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report --exits" of a xentrace file against what xenalyze prints of its records.

Usage: exits_xen.py EXITS.json DUMP.txt [SUMMARY.txt]

DUMP.txt comes from "xenalyze --dump-all". What follows a vmexit of a vCPU, up to its vmentry, shows what it
was for. Its first records are of a vCPU that xenalyze does not know yet, so all vCPUs are compared together.

SUMMARY.txt comes from "xenalyze --summary". Its table of ports lacks exits that have no vmentry, and reads in
which the vCPU lost its pCPU: Xen records the port of a read with the answer, and for xenalyze the exit is over
by then. In DUMP.txt these are io_assist.
"""
import collections
import json
import re
import sys

LINE = re.compile(r"^.*?\d+\.\d{9} \S* ?(?:\S+ )?(d[1-9]\d*v\d+) (.*)$")
CALLS = {0xc: "memory_op", 0x11: "xen_version", 0x18: "vcpu_op", 0x1d: "sched_op", 0x20: "event_channel_op",
         0x22: "hvm_op"}
MSRS = {0x80b: "X2APIC_EOI", 0x40000000: "XEN_HYPERCALL_PAGE or HV_GUEST_OS_ID"}
# By reason: how the line begins that shows its argument, with the number; and what the report calls that.
SHOWS = {
    "IOIO": (r"io (read|write) port ([0-9a-f]+)|io_assist \[ ([0-9a-f]+)", lambda m: (
        m[1] or "read", int(m[2] or m[3], 16))),
    "MSR": (r"msr_(read|write) addr ([0-9a-f]+)", lambda m: f"{m[1]} {MSRS[int(m[2], 16)]}"),
    "NPF": (r"npf gpa ([0-9a-f]+)", lambda m: f"page 0x{int(m[1], 16) & ~0xfff:x}"),
    "VMMCALL": (r"vmcall +([0-9a-f]+)", lambda m: CALLS[int(m[1], 16)]),
    "CPUID": (r"cpuid \[ *([0-9a-f]+)", lambda m: f"leaf 0x{int(m[1], 16):x}"),
}


def recount(path):
    wanted, last = collections.Counter(), {}
    for line in open(path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        vcpu, what = m[1], m[2]
        begin = re.match(r"vmexit exit_reason VMEXIT_(\w+)", what)
        if begin:
            last[vcpu] = [begin[1], None]
        elif vcpu in last and re.match(r"vmentry", what):
            reason, argument = last.pop(vcpu)
            wanted[reason, argument] += 1
        elif vcpu in last and last[vcpu][1] is None and last[vcpu][0] in SHOWS:
            pattern, name = SHOWS[last[vcpu][0]]
            shown = re.match(pattern, what)
            last[vcpu][1] = name(shown) if shown else None
    for reason, argument in last.values():
        wanted[reason, argument] += 1
    return wanted


def check_ports(wanted, dump_path, summary_path):
    """The ports of all exits are those of the summary and those that it lacks."""
    ports = collections.Counter()
    for m in re.finditer(r"^ +([0-9a-f]+):\[([rw])\] +(\d+) ", open(summary_path, errors="replace").read(), re.M):
        ports["read" if m[2] == "r" else "write", int(m[1], 16)] += int(m[3])
    in_summary = sum(ports.values())
    last = {}
    for line in open(dump_path, errors="replace"):
        m = LINE.match(line)
        if not m:
            continue
        vcpu, what = m[1], m[2]
        answer = re.match(r"io_assist \[ ([0-9a-f]+)", what)
        port = re.match(r"io (read|write) port ([0-9a-f]+)", what)
        if answer:
            assert line.startswith("!"), line
            ports["read", int(answer[1], 16)] += 1
        elif port:
            last[vcpu] = port[1], int(port[2], 16)
        elif what.startswith("vmentry"):
            last.pop(vcpu, None)
    ports.update(last.values())
    exits = collections.Counter({key[1]: n for key, n in wanted.items() if key[0] == "IOIO"})
    assert exits == ports, (exits - ports, ports - exits)
    print(f"{in_summary} of {sum(ports.values())} ports are in the summary")


def main(json_path, dump_path, summary_path=None):
    wanted = recount(dump_path)
    got = collections.Counter()
    for vcpu in json.load(open(json_path))["vcpus"]:
        for reason in vcpu["exits"] if vcpu["vcpu"] != "all" else ():
            parts = reason.get("arguments")
            if parts is None:
                got[reason["reason"], None] += reason["count"]
                continue
            assert sum(part["count"] for part in parts) == reason["count"]
            assert sum(part["cost"]["total_ns"] for part in parts) == reason["cost"]["total_ns"]
            for part in parts:
                name = re.sub(r" \(.*\)$", "", part["argument"])
                port = re.fullmatch(r"(read|write) port 0x([0-9a-f]+)", name)
                name = (port[1], int(port[2], 16)) if port else None if name == "not recorded" else name
                got[reason["reason"], name] += part["count"]
    assert got == wanted, (got - wanted, wanted - got)
    if summary_path:
        check_ports(wanted, dump_path, summary_path)
    print(f"{len(got)} arguments, {sum(got.values())} exits agree")
    return not got


sys.exit(main(*sys.argv[1:]))
