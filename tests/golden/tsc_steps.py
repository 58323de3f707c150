#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host and its guest of two vCPUs whose TSC is set while both are traced, in cycles.

tsc_steps.py FOLDER CHANGE... [OPTION...]: host.dat, guest.dat, and the host's sidecar, which has the
offsets at the begin and at the end. Each CHANGE, in cycles, is added to the guest's TSC at a moment
of its own, the same for all vCPUs but for some us. What is printed: the offset from the guest's times
to the host's before, and then that after each change.

    unrecorded      the host's trace has no kvm_write_tsc_offset
    late            the guest's trace begins after the last change
    ring            after it goes back, the guest's times go on up to the end of the page
    no-sidecar      there is none
    scaled          the guest's TSC runs at three quarters of the host's; the offsets printed are those
                    for the host's clock at a speed that the sidecar says
    alone           the second vCPU's TSC does not change, and nothing is recorded of it
"""
import json
import os
import random
import sys

import scale_files
from scale_files import Dat, FIRST_TID

TRACECLOCK = 4
CPUS = 2
BEGIN, LENGTH = 1 << 40, 60_000_000
OFFSET = -987_654_321_000       # of the guest's TSC at first
FRAC_BITS = 48                  # as processors of Intel have it
RATIO = 3 << FRAC_BITS >> 2
EVENTS = dict(scale_files.EVENTS)
EVENTS["kvm_write_tsc_offset"] = (3, "kvm", (("unsigned int", "vcpu_id", 4, 0),
                                             ("__u64", "previous_tsc_offset", 8, 0),
                                             ("__u64", "next_tsc_offset", 8, 0)))


def dat(names):
    """A file with these events, whose clock is the TSC."""
    scale_files.EVENTS.clear()
    scale_files.EVENTS.update({name: EVENTS[name] for name in names})
    made = Dat()
    made.option(TRACECLOCK, b"local [x86-tsc]\n\0")
    return made


class World:
    def __init__(self, changes, options):
        self.random = random.Random(7)
        # such a clock is behind by a quarter
        self.offset = OFFSET // 2 if "scaled" in options else OFFSET
        self.changes, self.options = changes, options
        # in the order of time, each in its part of the trace
        self.when = [BEGIN + LENGTH * (i + 1) // (len(changes) + 1) for i in range(len(changes))]
        self.host, self.guest = [[] for _ in range(CPUS)], [[] for _ in range(CPUS)]
        for cpu in range(CPUS):
            self.run(cpu)

    def run(self, cpu):
        """A vCPU alone on its pCPU."""
        tid, offset, left = FIRST_TID + cpu, self.offset, list(zip(self.when, self.changes))
        host, guest, time = self.host[cpu], self.guest[cpu], BEGIN + 1000 * cpu
        while time < BEGIN + LENGTH:
            host.append((time, "kvm_entry", tid, cpu))
            end = time + self.random.randrange(4000, 40000)
            for at in sorted(self.random.randrange(time + 600, end - 600)
                             for _ in range(self.random.randrange(4))):
                if not left or "late" not in self.options:
                    guest.append((self.scaled(at) + offset, offset))
            host.append((end, "kvm_exit", tid, 1, 1, cpu))
            time = end + self.random.randrange(4000, 60000)
            while left and left[0][0] < end:
                change = left.pop(0)[1]
                if "unrecorded" not in self.options and not ("alone" in self.options and cpu):
                    host.append((end + 500, "kvm_write_tsc_offset", tid, cpu,
                                 offset % 2**64, (offset + change) % 2**64))
                if "alone" not in self.options or not cpu:
                    offset += change

    def scaled(self, time):
        """A guest's TSC without its offset, as the processor makes it."""
        return time * RATIO >> FRAC_BITS if "scaled" in self.options else time

    def write_host(self, path):
        made = dat(["kvm_entry", "kvm_exit", "kvm_write_tsc_offset", "sched_switch", "sched_wakeup"])
        for cpu in range(CPUS):
            made.at(cpu)
            for time, name, tid, *values in self.host[cpu]:
                made.time = time
                made.add(name, tid, *values)
        with open(path, "wb") as out:
            out.write(made.data())

    def write_guest(self, path):
        made = dat(["sched_wakeup"])
        for cpu in range(CPUS):
            made.at(cpu)
            last, behind = None, 0
            for time, offset in self.guest[cpu]:
                if last is not None and time < last:
                    if "ring" in self.options and not behind:
                        behind = last - time
                    elif not behind:
                        made.close(cpu)
                if behind and len(made.here.get(cpu, (0, b""))[1]) > scale_files.PAGE - 40:
                    made.close(cpu)
                    behind = 0
                made.time = time + behind
                made.add("sched_wakeup", 1, 1)
                last = time
        with open(path, "wb") as out:
            out.write(made.data())

    def write_sidecar(self, path):
        both = {"tsc_offset": "%#x" % (self.offset % 2**64)}
        if sum(self.changes):
            both["tsc_offset_at_end"] = "%#x" % ((self.offset + sum(self.changes)) % 2**64)
        if "scaled" in self.options:
            both.update({"tsc_ratio": RATIO, "tsc_ratio_frac_bits": FRAC_BITS})
        vcpus = [{"id": cpu, "tid": FIRST_TID + cpu,
                  **({} if cpu and "alone" in self.options else both)} for cpu in range(CPUS)]
        with open(path, "w") as out:
            json.dump({"guests": [{"name": "web", "vcpus": vcpus}]}, out)


def main():
    folder = sys.argv[1]
    changes = [int(arg) for arg in sys.argv[2:] if arg.lstrip("-").isdigit()]
    world = World(changes, sys.argv[2 + len(changes):])
    world.write_host(os.path.join(folder, "host.dat"))
    world.write_guest(os.path.join(folder, "guest.dat"))
    if "no-sidecar" not in world.options:
        world.write_sidecar(os.path.join(folder, "host.dat.meta.json"))
    offset = world.offset
    for change in [0] + changes:
        offset += change
        print(-round(offset * 4 / 3) if "scaled" in world.options else -offset)


main()
