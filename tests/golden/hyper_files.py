#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces of hosts whose guests report through hypercalls: hyper_files.py NAME FILE [TRUTH]

Each is a story with a known end. TRUTH receives, as JSON, when each vCPU executed its guest.
"""
import json
import sys

import scale_files
from scale_files import Dat, Xen

scale_files.EVENTS = dict(scale_files.EVENTS)
scale_files.EVENTS["kvm_hypercall"] = (5, "kvm", tuple(
    ("unsigned long", name, 8, 0) for name in ("nr", "a0", "a1", "a2", "a3")))

scale_files.EVENTS["hypergraph_host"] = (12, "hypergraph", tuple(
    ("unsigned long", name, 8, 0) for name in ("nr", "a0", "a1", "a2", "a3")) + (
        ("unsigned int", "vcpu_id", 4, 0), ("unsigned long", "guest_rip", 8, 0),
        ("unsigned long", "overhead", 8, 0)))
scale_files.EVENTS["initcall_level"] = (9, "initcall", (("__data_loc char[]", "level", 4, 0),))
scale_files.EVENTS["initcall_start"] = (10, "initcall", (("void *", "func", 8, 0),))
scale_files.EVENTS["initcall_finish"] = (11, "initcall", (("void *", "func", 8, 0),
                                                          ("int", "ret", 4, 1)))

VMCALL, HLT, VMX = 18, 12, 1
TIDS = (2272, 2273)
FUNCTION, SWITCH = 1000, 1001
ENTRY, EXIT = 0, 1
SCHEDULE, READ, PICK = 0xffffffff81000000, 0xffffffff81200000, 0xffffffff81000400
STORIES = {}


def story(function):
    STORIES[function.__name__] = function
    return function


class Kvm(Dat):
    """A machine with two vCPUs, each on a CPU of its own; a record per us."""

    def __init__(self):
        super().__init__()
        self.truth = [[], []]
        for cpu, tid in enumerate(TIDS):
            self.at(cpu)
            comm = b"CPU %d/KVM" % cpu
            self.add("sched_switch", 0, 0, comm + b"\0" * (16 - len(comm)), tid)
            self.add("kvm_entry", tid, cpu)

    def add(self, name, pid, *values):
        if name == "kvm_entry":
            self.truth[self.cpu].append([self.time, None])
        elif name == "kvm_exit":
            self.truth[self.cpu][-1][1] = self.time
        super().add(name, pid, *values)

    def wait(self, us):
        self.time += us * 1000

    def call(self, cpu, nr, *registers):
        """An exit, the call, an entry: the call is 1 us behind the exit."""
        self.at(cpu)
        self.add("kvm_exit", TIDS[cpu], VMCALL, VMX, cpu)
        self.add("kvm_hypercall", TIDS[cpu], nr, *(registers + (0, 0, 0, 0))[:4])
        self.add("kvm_entry", TIDS[cpu], cpu)

    def preempt(self, cpu, us):
        """Another task has the CPU for a while: an exit, two switches, an entry."""
        self.at(cpu)
        self.add("kvm_exit", TIDS[cpu], 1, VMX, cpu)
        self.add("sched_switch", TIDS[cpu], 0, b"burner\0\0\0\0\0\0\0\0\0\0", 4242)
        self.wait(us)
        self.add("sched_switch", 4242, 0, b"CPU %d/KVM\0\0\0\0\0\0\0" % cpu, TIDS[cpu])
        self.add("kvm_entry", TIDS[cpu], cpu)

    def finish(self):
        for cpu, tid in enumerate(TIDS):
            self.at(cpu)
            self.add("kvm_exit", tid, HLT, VMX, cpu)
        return self


@story
def first(_=None):
    """Two tasks on vCPU 0, nested functions, a vCPU that loses its CPU; KVM's own calls beside."""
    dat = Kvm()
    dat.call(0, SWITCH, 0, 0, 100, 100)
    dat.wait(10)
    dat.call(0, FUNCTION, READ, ENTRY, 0, 0)
    dat.wait(10)
    dat.call(0, FUNCTION, PICK, ENTRY, 0, 1)
    dat.preempt(0, 500)
    dat.call(1, 5, 0, 1)
    dat.call(0, FUNCTION, PICK, EXIT, 777, 1)
    dat.call(1, SWITCH, 0, 0, 200, 200)
    dat.wait(20)
    dat.call(0, SWITCH, 100, 100, 101, 100)
    dat.wait(30)
    dat.call(0, SWITCH, 101, 100, 100, 100)
    dat.call(0, FUNCTION, READ, EXIT, 888, 0)
    dat.call(1, SWITCH, 200, 200, 0, 0)
    dat.call(0, 4000, 60, 0)
    dat.call(0, 4000, 60, 1, 5)
    return dat.finish()


def booting(us):
    """The us after each event."""
    dat = Kvm()
    for nr, *registers in ((9000,), (9001,), (3000, 0), (3000, 1), (3000, 2), (3000, 2, 1),
                           (4001, 7, 0, 0, int.from_bytes(b"acpi_ini", "little")),
                           (1000, READ, 0), (1000, READ, 1),
                           (4002, 7, 0, 0, int.from_bytes(b"acpi_ini", "little")),
                           (3000, 9), (3000, 9, 1), (9002,), (10000, 104), (11001, 3),
                           (11002, 3), (10000, 108)):
        dat.call(0, nr, *registers)
        dat.wait(us(nr, registers))
        if nr == 4001:
            dat.preempt(0, 300)
    return dat.finish()


@story
def boot(_=None):
    """Phases and levels on vCPU 0, an initcall in one of them, user space, and the way down."""
    return booting(lambda nr, registers: 100)


@story
def slow_boot(_=None):
    """The same, but the level core takes longer, and the way down less."""
    return booting(lambda nr, registers: 350 if registers == [2] else 40 if nr >= 10000 else 100)


@story
def liar(_=None):
    """What cannot be: unknown numbers, tasks, edges and depths, exits of what never began."""
    dat = Kvm()
    dat.call(0, SWITCH, 0, 0, 100, 100)
    dat.call(0, FUNCTION, READ, ENTRY, 0, 0)
    dat.call(0, FUNCTION, PICK, ENTRY, 0, 5)
    dat.call(0, FUNCTION, PICK, EXIT, 1, 5)
    dat.call(0, FUNCTION, READ, EXIT, 1, 0)
    dat.call(0, FUNCTION, READ, 7, 0, 0)
    dat.call(0, FUNCTION, READ, ENTRY, 0, 4096)
    dat.call(0, SWITCH, 0, 0, 1 << 40, 0)
    dat.call(0, SWITCH, 77, 77, 101, 101)
    dat.call(0, 31337, 1, 2, 3, 4)
    dat.call(0, 31337, 1, 2, 3, (1 << 64) - 1)
    dat.call(0, 3002, 4)
    dat.call(0, FUNCTION, SCHEDULE, ENTRY, 0, 0)
    return dat.finish()


@story
def others(_=None):
    """A machine whose hypercalls are KVM's own, all of them."""
    dat = Kvm()
    for nr in (1, 5, 9, 10, 11, 12) * 3:
        dat.call(nr % 2, nr, 1, 2)
    return dat.finish()


@story
def strangers(_=None):
    """A machine with unknown hypercalls."""
    dat = Kvm()
    for nr in (77, 78, 77):
        dat.call(0, nr, 1, 2, 3, 4)
    return dat.finish()


@story
def later(_=None):
    """The dialect of 2018: the vCPU in the number, names with each switch."""
    dat = Kvm()
    for cpu, prev, following, comm in ((0, 0, 100, b"init"), (1, 0, 200, b"kworker/1:0"),
                                       (0, 100, 101, b"=cmd\x1b[31m"), (1, 200, 0, b"swapper/1")):
        comm = comm + b"\0" * (16 - len(comm))
        dat.call(cpu, cpu << 16 | SWITCH, 1 << 48 | 120 << 32 | prev, 120 << 32 | following,
                 int.from_bytes(comm[8:], "little"), int.from_bytes(comm[:8], "little"))
        dat.wait(50)
        dat.call(cpu, cpu << 16 | 1105, 19)
        dat.call(cpu, cpu << 16 | 1106, 19, 1)
    return dat.finish()


@story
def ours(_=None):
    """What docs/hypertrace-format.md has as examples; then a call is missing, and one makes no sense."""
    dat = Kvm()
    dat.call(1, 0x48541400, 0x4352544801040101, 0xf4240, 0x100231860, 0xa)
    dat.call(1, 0x48541501, 0x78000000780001, 0x4d200000000)
    dat.call(1, 0x48541502, 0x4d0000000f, 0x656572705f756372, 0x74706d)
    dat.call(0, 5, 1)
    dat.call(1, 0x48541603, 0x790000a10001f404, 0x644d32637909d200, 0x644d01326200)
    dat.wait(50)
    dat.call(1, 0x48541505, 0xd, SCHEDULE)
    dat.call(1, 0x48541506, 0xe, SCHEDULE)
    dat.call(1, 0x48541507, 0x0)
    dat.call(1, 0x48542508, 0x1)
    dat.call(1, 0x48541408, 0x4352544801040103, 0xf9060, 0x8)
    return dat.finish()


@story
def crowd(_=None):
    """More senseless calls of ours than sequence numbers, more numbers of others than are listed, a stray."""
    dat = Kvm()
    dat.call(0, 0x48541400, 0x4352544801040101, 0xf4240, 0x231860, 0xa)
    for i in range(300):
        dat.call(0, 0x48541500 | (1 + i) & 0xff)
    for i in range(70):
        dat.call(0, 20000 + i)
    dat.at(1)
    dat.add("kvm_hypercall", 9999, 77, 0, 0, 0, 0)
    return dat.finish()


@story
def to_come(_=None):
    """Phases and levels that are not known yet; an initcall whose lower half is the number of a level."""
    dat = Kvm()
    dat.call(0, 0x48541400, 0x4352544801040101, 0xf4240, 0x231860, 0xa)
    for i, (kind, what) in enumerate(((18, 1), (18, 99), (10, 3), (10, 12), (11, 0xffffffff00000003))):
        dat.call(0, 0x48541501 + i, kind, what)
    return dat.finish()


@story
def early(_=None):
    """vCPU 1 reports events before its calls; vCPU 0 reports the frequency of the clock later."""
    dat = unclocked()
    dat.call(0, 0x48541400, 0x4352544801040101, 0xf4240, 0x231860, 0xa)
    return dat.finish()


@story
def unclocked(_=None):
    """The same, and no vCPU reports it."""
    dat = Kvm()
    dat.wait(50)
    dat.call(1, 0x48541603, 0x790000a10001f404, 0x644d32637909d200, 0x644d01326200)
    dat.wait(50)
    dat.call(1, 0x48541505, 0xd, SCHEDULE)
    return dat


@story
def whole(_=None):
    """What the research module on the host records of a level and a function: exit to entry as one."""
    dat = Kvm()
    for nr, a0, a1 in ((3000, 4, 0), (FUNCTION, READ, ENTRY), (FUNCTION, READ, EXIT), (3000, 5, 0)):
        dat.at(0)
        dat.add("kvm_exit", TIDS[0], VMCALL, VMX, 0)
        dat.add("kvm_entry", TIDS[0], 0)
        dat.add("hypergraph_host", TIDS[0], nr, a0, a1, 0, 0, 0, 0xffffffff81001234, 1500)
        dat.wait(20)
    return dat.finish()


class Alone(Dat):
    """A host that records nothing but hypercalls, each from its exit to its entry."""

    def call(self, cpu, nr, *registers, cost=1500, wait=20):
        self.at(cpu)
        self.add("hypergraph_host", TIDS[cpu], nr, *(registers + (0, 0, 0, 0))[:4], cpu, 0xffffffff81001234, cost)
        self.time += wait * 1000


def add_alone_calls(dat):
    for cpu, *call in ((0, 9001), (0, 3000, 4), (1, SWITCH, 0, 0, 200, 200), (0, SWITCH, 0, 0, 100, 100),
                       (0, FUNCTION, READ, ENTRY), (0, FUNCTION, READ, EXIT), (1, SWITCH, 200, 200, 0, 0), (0, 3000, 5)):
        dat.call(cpu, *call)
    # one that takes longer than what is between it and the one before, and one of unknown cost
    dat.call(0, SWITCH, 100, 100, 0, 0, cost=90_000)
    dat.call(0, SWITCH, 0, 0, 100, 100, cost=1 << 63)
    return dat


@story
def alone(_=None):
    """hypergraph_host and nothing else: no entry, no exit, no switch of the host's."""
    return add_alone_calls(Alone())


@story
def alone_switched(_=None):
    """The same with the host's sched_switch: its threads lose their CPUs, one asleep and one not."""
    dat = Alone()
    for cpu, tid in enumerate(TIDS):
        dat.at(cpu)
        dat.add("sched_switch", 0, 0, b"CPU %d/KVM\0\0\0\0\0\0\0" % cpu, tid)
    add_alone_calls(dat)
    for cpu, state in ((0, 0), (1, 1)):
        dat.at(cpu)
        dat.add("sched_switch", TIDS[cpu], state, b"burner\0\0\0\0\0\0\0\0\0\0", 4242)
        dat.time += 50_000
        dat.add("sched_switch", 4242, 0, b"CPU %d/KVM\0\0\0\0\0\0\0" % cpu, TIDS[cpu])
        dat.time += 50_000
    return dat


@story
def endless(_=None):
    """The same with costs that no exit has had, within a level."""
    dat = Kvm()
    for nr, a0, cost in ((3000, 4, 1500), (3000, 5, (1 << 63) - 1), (FUNCTION, READ, (1 << 63) - 1),
                         (FUNCTION, READ, 1 << 63), (FUNCTION, READ, 700), (3000, 6, 1500)):
        dat.at(0)
        dat.add("kvm_exit", TIDS[0], VMCALL, VMX, 0)
        dat.add("kvm_entry", TIDS[0], 0)
        dat.add("hypergraph_host", TIDS[0], nr, a0, 0, 0, 0, 0, 0xffffffff81001234, cost)
        dat.wait(20)
    return dat.finish()


@story
def lossy(_=None):
    """Records of CPU 0 are missing while a function is open."""
    dat = Kvm()
    dat.call(0, SWITCH, 0, 0, 100, 100)
    dat.call(0, FUNCTION, READ, ENTRY, 0, 0)
    dat.wait(100)
    dat.lose()
    dat.call(0, FUNCTION, READ, EXIT, 5, 0)
    dat.call(0, FUNCTION, PICK, ENTRY, 0, 0)
    dat.call(0, FUNCTION, PICK, EXIT, 5, 0)
    return dat.finish()


@story
def silent(_=None):
    """A host whose guest says nothing: an exit of each vCPU every 100 us."""
    dat = Kvm()
    for i in range(20):
        dat.at(i % 2)
        dat.add("kvm_exit", TIDS[i % 2], 1, VMX, i % 2)
        dat.add("kvm_entry", TIDS[i % 2], i % 2)
        dat.wait(100)
    return dat.finish()


@story
def silent_g1(_=None):
    """The same guest's own trace: levels and an initcall on CPU 0, an unknown level."""
    scale_files.EVENTS = {name: event for name, event in scale_files.EVENTS.items()
                          if event[1] not in ("kvm", "hypergraph")}
    dat = Dat()
    dat.time += 50_000

    def level(name):
        text = name + b"\0"
        dat.add("initcall_level", 1, (len(text) << 16 | 12).to_bytes(4, "little") +
                text.ljust(-(-len(text) // 4) * 4, b"\0"))
        dat.time += 200_000

    level(b"early")
    level(b"core")
    dat.add("initcall_start", 1, READ)
    dat.time += 150_000
    dat.add("initcall_finish", 1, READ, 0)
    level(b"no such level")
    level(b"late")
    dat.truth = None
    return dat


@story
def xen(_=None):
    """d1v0 on pCPU 0 says with HVMOP_xentrace what the first story says; d2v0 has its own numbers."""
    trace = Xen()

    def guest(number, *registers, words=7):
        data = [half for r in registers for half in (r & 0xffffffff, r >> 32)]
        trace.add(0x800f000 | number, *(data + [0] * 7)[:words])

    for pcpu, domain in ((0, 1), (1, 2)):
        trace.at(pcpu)
        trace.add(scale_files.change(1, 0), domain << 16)
        trace.add(0x81001)
    trace.at(0)
    guest(SWITCH, 0, 0, 100, 100)
    guest(FUNCTION, READ, ENTRY, 0, 0)
    guest(FUNCTION, READ, EXIT, 9, 0)
    guest(SWITCH, 100, 100, 0, words=5)
    trace.at(1)
    guest(0x77, 1, 2, words=4)
    guest(5, words=0)
    return trace


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("\n".join(STORIES))
    made = STORIES[sys.argv[1]]()
    if sys.argv[1] == "unclocked":
        made.finish()
    with open(sys.argv[2], "wb") as file:
        file.write(made.data())
    if len(sys.argv) > 3 and hasattr(made, "truth"):
        with open(sys.argv[3], "w") as file:
            json.dump(made.truth, file)
