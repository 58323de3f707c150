# SPDX-License-Identifier: LGPL-2.1-or-later
"""The family of missing records: a trace with fewer kinds of events shows less, and nothing else."""
import json
import os
import re
import struct
import subprocess
import sys

from judge import wrong

# of which all is known
DAT = ("kvm-host.dat", "kvm-shared.dat")
XEN = ("pinned.xen", "hvm-exits.xen", "hvm-io.xen", "credit2-basic.xen", "sched-credit.xen")

# An event that Xen does not have, of a class that no number needs: records stay at their places and
# moments.
NO_EVENT = 0x40f0ff

# Without runstates, moments of switches are those of the records of the part verbose. Without both,
# nothing names the vCPUs.
RUNSTATES, SWITCHES = 0x21, 0x28
# Records of the trace itself: lost ones, and changes of the pCPU.
OF_TRACE = range(0x1f0, 0x200)


def golden(case, name):
    return os.path.join(case.world.source, "tests/golden", name)


def plain_dat(case, name):
    """The path of an uncompressed copy, which is made but once."""
    path = os.path.join(case.world.samples.folder, "plain-" + name)
    if not os.path.exists(path):
        subprocess.run(["trace-cmd", "convert", "--compression", "none", "-i",
                        os.path.join(case.world.source, "samples", name), "-o", path],
                       check=True, capture_output=True)
    return path


def without_events(case, name):
    """Return: paths of the whole trace and of one without some events, and which ones."""
    path = plain_dat(case, name)
    with open(path, "rb") as file:
        events = sorted(set(re.findall(rb"name: ((?:kvm|sched|irq)_\w+)\nID:", file.read())))
    left_out = [event.decode() for event in case.rng.sample(events, case.rng.choice((1, 1, 2, 3, 8)))]
    # without both, the trace is refused
    if {"kvm_entry", "kvm_exit"} <= set(left_out):
        left_out.remove("kvm_exit")
    subprocess.run([sys.executable, golden(case, "trace_dat_less.py"), path, case.path("less.dat"),
                    *left_out], check=True)
    return path, "less.dat", left_out


def parts_of(data):
    """The parts of classes that a xentrace file has, without those that are always there."""
    parts, at = set(), 0
    while at < len(data):
        at, end = at + 12, at + 12 + struct.unpack_from("<I", data, at + 8)[0]
        while at < end:
            header, = struct.unpack_from("<I", data, at)
            parts.add(header >> 12 & 0xffff)
            at += 4 + 4 * (header >> 28 & 7) + 8 * (header >> 31)
    return sorted(part for part in parts if part >> 4 != 0x1 and part not in OF_TRACE)


def without_parts(case, name):
    """The same of a xentrace file, whose classes are recorded part by part."""
    path = os.path.join(case.world.source, "samples", name)
    parts = parts_of(case.world.samples.raw(name))
    left_out = case.rng.sample(parts, min(len(parts), case.rng.choice((1, 1, 2, 3))))
    if {RUNSTATES, SWITCHES} <= set(left_out):
        left_out.remove(RUNSTATES)
    subprocess.run([sys.executable, golden(case, "xen_less.py"), path, case.path("less.xen"),
                    "event >> 12 not in %r or %d" % (left_out, NO_EVENT)], check=True)
    return path, "less.xen", [hex(part) for part in left_out]


def report(case, path, *words):
    """Return: the report of a trace, in JSON."""
    result = case.run("report", "-q", "-fjson", *words, path, names=[path])
    if result.status:
        wrong("exit status %d of %s" % (result.status, path))
    return result.out


def fewer(case):
    """Each number of the whole trace is the same without some kinds of events, or unknown."""
    if case.rng.random() < 0.5:
        name = case.rng.choice(DAT)
        whole, less, left_out = without_events(case, name)
    else:
        name = case.rng.choice(XEN)
        whole, less, left_out = without_parts(case, name)
    clock = json.loads(report(case, whole)).get("clock")
    # records of the scheduler show how long a cycle is
    words = ["--cpu-hz", str(clock["cpu_hz"])] if clock else []
    case.write("whole.json", report(case, whole, *words))
    case.write("less.json", report(case, less, *words))
    judged = subprocess.run([sys.executable, golden(case, "equal_or_null.py"), case.path("whole.json"),
                             case.path("less.json"), "%s without %s" % (name, " ".join(left_out))] +
                            ["--near-switches"] * (hex(RUNSTATES) in left_out),
                            capture_output=True, text=True, check=False)
    if judged.returncode:
        wrong((judged.stdout.strip() or judged.stderr[-300:]).split("\n")[0])
