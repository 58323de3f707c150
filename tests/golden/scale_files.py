#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small files that ask for much: scale_files.py FAMILY N FILE [PART], or without arguments a list.

Each family has something of which a file can name more than any real machine has, or what many
things in it have to do with each other; N is about the number of records. PART 1 is the trace of a
guest, where a family has one. The number of records goes to standard output.
"""
import struct
import sys

FAMILIES = {}


def family(function):
    FAMILIES[function.__name__] = function
    return function


# --- xentrace files -------------------------------------------------------------------------------

RUNNING, RUNNABLE, BLOCKED, OFFLINE = range(4)
LOST_RECORDS = 0x1f001
SWITCH = 0x2800a
DOM_REM = 0x28002
VMENTRY, VMEXIT, INJ_VIRQ, NPF = 0x81001, 0x81002, 0x82004, 0x82014
HYPERCALL = 0x20100d


def change(old, new):
    return 0x21001 | old << 8 | new << 4


class Xen:
    """Windows of records; time goes on by a step with each one."""

    def __init__(self, step=2400):
        self.pieces, self.window, self.pcpu = [], [], None
        self.n, self.tsc, self.step = 0, 1 << 32, step

    def at(self, pcpu):
        """From now on, records are in a window of their own of that pCPU."""
        self.close()
        self.pcpu = pcpu

    def close(self):
        data = b"".join(self.window)
        if data:
            self.pieces.append(struct.pack("<III", 0x2001f003, self.pcpu, len(data)) + data)
        self.window = []

    def add(self, event, *words):
        self.window.append(struct.pack("<IQ%dI" % len(words), 1 << 31 | len(words) << 28 | event,
                                       self.tsc, *words))
        self.tsc += self.step
        self.n += 1

    def data(self):
        self.close()
        return b"".join(self.pieces)


def vcpu(number):
    """A vCPU of a domain of 5000."""
    return (1 + number // 5000) << 16 | number % 5000


def affinities(n):
    """A list of affinities of their own for the first vCPUs, as many as it may have."""
    return "".join("d%dv%d=0-31,%d\n" % (v >> 16, v & 0xffff, v * 7919 % 32768)
                   for v in map(vcpu, range(min(n, 16384))))


def one_runs():
    """a trace in which one vCPU runs, on pCPU 0"""
    xen = Xen()
    xen.at(0)
    xen.add(change(BLOCKED, RUNNING), vcpu(0))
    return xen


@family
def xen_last_pcpu(n):
    """one window, of the last pCPU there can be"""
    xen = Xen()
    xen.at(32767)
    for i in range(n // 2):
        xen.add(change(BLOCKED, RUNNING), vcpu(i % 2))
        xen.add(change(RUNNING, BLOCKED), vcpu(i % 2))
    return xen


@family
def xen_pcpus(n):
    """as many pCPUs as there can be, a record of each at a time"""
    xen = Xen()
    for i in range(n):
        xen.at(i * 7919 % 32768)
        xen.add(change(BLOCKED, RUNNING), vcpu(i % 40000))
    return xen


@family
def xen_vcpus(n):
    """a vCPU per record"""
    xen = Xen()
    xen.at(0)
    for i in range(n):
        xen.add(change(BLOCKED, RUNNING), vcpu(i))
    return xen


@family
def xen_vcpus_busy(n):
    """vCPUs that do a bit of everything"""
    xen = Xen()
    xen.at(3)
    for i in range(n // 8):
        xen.add(change(BLOCKED, RUNNABLE), vcpu(i))
        xen.add(change(RUNNABLE, RUNNING), vcpu(i))
        xen.add(VMENTRY)
        xen.add(VMEXIT, i & 0xffff, 0)
        xen.add(INJ_VIRQ, i & 0xff, 0)
        xen.add(HYPERCALL, i)
        xen.add(VMENTRY)
        xen.add(change(RUNNING, RUNNABLE), vcpu(i))
    return xen


@family
def xen_domains(n):
    """a domain per record"""
    xen = Xen()
    xen.at(0)
    for i in range(n):
        xen.add(change(BLOCKED, RUNNING), i % 0x7ff0 << 16 | i // 0x7ff0)
    return xen


@family
def xen_reasons(n):
    """a reason per VM exit, of one vCPU"""
    xen = one_runs()
    for i in range(n // 2):
        xen.add(VMENTRY)
        xen.add(VMEXIT + 1, i, 0)
    return xen


@family
def xen_vcpus_reasons(n):
    """many vCPUs, and reasons of VM exits of their own"""
    xen = Xen()
    xen.at(0)
    for i in range(n // 4):
        xen.add(change(BLOCKED, RUNNING), vcpu(i))
        xen.add(VMENTRY)
        xen.add(VMEXIT + 1, i, 0)
        xen.add(change(RUNNING, BLOCKED), vcpu(i))
    return xen


@family
def xen_migrations(n):
    """one vCPU that is on another pCPU each time"""
    xen = Xen()
    for i in range(n // 2):
        xen.at(i * 7919 % 32768)
        xen.add(change(BLOCKED, RUNNING), vcpu(0))
        xen.add(change(RUNNING, BLOCKED), vcpu(0))
    return xen


@family
def xen_hypercalls(n):
    """a number per hypercall"""
    xen = one_runs()
    for i in range(n):
        xen.add(HYPERCALL, i & 0xfffff)
    return xen


@family
def xen_interrupts(n):
    """interrupts of all vectors, and none is ever taken"""
    xen = one_runs()
    for i in range(n):
        xen.add(INJ_VIRQ, i & 0xff, 0)
    return xen


@family
def xen_losses(n):
    """records are lost, again and again, of many vCPUs"""
    xen = Xen()
    xen.at(0)
    for i in range(n // 2):
        xen.add(change(BLOCKED, RUNNABLE), vcpu(i))
    for i in range(n // 2):
        xen.add(LOST_RECORDS, 7, vcpu(i) >> 16 | (vcpu(i) & 0xffff) << 16, xen.tsc & 0xffffffff,
                xen.tsc >> 32)
    return xen


@family
def xen_waits(n):
    """many wait for one pCPU, and many have it then"""
    xen = Xen()
    xen.at(0)
    for i in range(n // 4):
        xen.add(change(BLOCKED, RUNNING), vcpu(i))
        xen.add(change(RUNNING, RUNNABLE), vcpu(i))
    for i in range(n // 4):
        xen.add(change(BLOCKED, RUNNING), vcpu(n + i))
        xen.add(change(RUNNING, BLOCKED), vcpu(n + i))
    return xen


@family
def xen_culprits(n):
    """one vCPU that waits again and again, each time for another one"""
    xen = Xen()
    xen.at(0)
    for i in range(n // 4):
        xen.add(change(BLOCKED if not i else RUNNABLE, RUNNING), vcpu(0))
        xen.add(change(RUNNING, RUNNABLE), vcpu(0))
        xen.add(change(BLOCKED, RUNNING), vcpu(1 + i))
        xen.add(change(RUNNING, BLOCKED), vcpu(1 + i))
    return xen


@family
def xen_long_wait(n):
    """one vCPU that waits once, for all the others"""
    xen = Xen()
    xen.at(0)
    xen.add(change(BLOCKED, RUNNING), vcpu(0))
    xen.add(change(RUNNING, RUNNABLE), vcpu(0))
    for i in range(n // 2):
        xen.add(change(BLOCKED, RUNNING), vcpu(1 + i))
        xen.add(change(RUNNING, BLOCKED), vcpu(1 + i))
    return xen


@family
def xen_removals(n):
    """a domain that is destroyed again and again, and its vCPUs"""
    xen = Xen()
    xen.at(0)
    for i in range(n // 2):
        xen.add(change(BLOCKED, RUNNABLE), 1 << 16 | i % 9999)
    for i in range(n // 4):
        xen.add(change(OFFLINE, RUNNABLE), 1 << 16 | i % 9999)
        xen.add(DOM_REM, 1)
    return xen


@family
def xen_switches(n):
    """switches and wake-ups, and nothing else"""
    xen = Xen()
    for i in range(n // 2):
        if i % 64 == 0:
            xen.at(i // 64 % 32768)
        xen.add(0x28004, vcpu(i) >> 16, vcpu(i) & 0xffff)
        xen.add(SWITCH, vcpu(i) >> 16, vcpu(i) & 0xffff, vcpu(i + 1) >> 16, vcpu(i + 1) & 0xffff)
    return xen


@family
def xen_far_times(n):
    """hardly anything in all the time there can be"""
    xen = Xen(step=(1 << 62) // n)
    for i in range(n // 2):
        if i % 100 == 0:
            xen.at(i // 100 % 1000)
        xen.add(change(BLOCKED, RUNNING), vcpu(i % 1000))
        xen.add(change(RUNNING, RUNNABLE), vcpu(i % 1000))
    return xen


@family
def xen_back(n):
    """time goes back with every record"""
    xen = Xen(step=-2400)
    xen.tsc = 1 << 40
    xen.at(1)
    for i in range(n):
        xen.add(change(BLOCKED, RUNNING) if i % 2 else change(RUNNING, BLOCKED), vcpu(i % 99))
    return xen


@family
def xen_skewed(n):
    """pCPUs in a ring, each with a clock that is behind the one before"""
    xen = Xen()
    for i in range(n // 2):
        xen.at(i % 8192)
        xen.add(change(BLOCKED, RUNNABLE), vcpu(i // 3))
        xen.at((i + 1) % 8192)
        xen.tsc -= 2 * xen.step + 100
        xen.add(change(RUNNABLE, RUNNING), vcpu(i // 3))
        xen.tsc += 2 * xen.step
    return xen


@family
def xen_empty_windows(n):
    """windows without a record"""
    xen = one_runs()
    xen.close()
    xen.pieces += [struct.pack("<III", 0x2001f003, i * 7919 % 32768, 0) for i in range(n)]
    return xen


@family
def xen_false_windows(n):
    """headers of windows that hold no window, one after the other"""
    xen = Xen()
    xen.at(0)
    for i in range(100):
        xen.add(change(BLOCKED, RUNNING), vcpu(i))
    xen.close()
    xen.pieces += [struct.pack("<III", 0x2001f003, i % 32768, 12 * (n - i) + 3) for i in range(n)]
    return xen


# --- trace.dat files, version 6 -------------------------------------------------------------------

PAGE = 4096
COMMON = (("unsigned short", "common_type", 2, 0), ("unsigned char", "common_flags", 1, 0),
          ("unsigned char", "common_preempt_count", 1, 0), ("int", "common_pid", 4, 1))

# as small as they can be
EVENTS = {
    "kvm_entry": (1, "kvm", (("unsigned int", "vcpu_id", 4, 0),)),
    "kvm_exit": (2, "kvm", (("unsigned int", "exit_reason", 4, 0), ("u32", "isa", 4, 0),
                            ("unsigned int", "vcpu_id", 4, 0))),
    "kvm_write_tsc_offset": (3, "kvm", (("unsigned int", "vcpu_id", 4, 0),
                                        ("__u64", "next_tsc_offset", 8, 0))),
    "kvm_inj_virq": (4, "kvm", (("unsigned int", "vector", 4, 0),)),
    "kvm_hypercall": (5, "kvm", (("unsigned int", "nr", 4, 0),)),
    "sched_switch": (6, "sched", (("int", "prev_state", 4, 1), ("char", "next_comm[16]", 16, 1),
                                  ("pid_t", "next_pid", 4, 1))),
    "sched_wakeup": (7, "sched", (("pid_t", "pid", 4, 1),)),
    "local_timer_entry": (8, "irq_vectors", (("int", "vector", 4, 1),)),
}


def event_format(name, number, fields):
    text, at = "name: %s\nID: %d\nformat:\n" % (name, number), 0
    for i, (kind, field, size, signed) in enumerate(COMMON + fields):
        text += "\n" * (i == len(COMMON))
        text += "\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (kind, field, at, size,
                                                                       signed)
        at += size
    return text + "\nprint fmt: \"\"\n"


class Dat:
    """Pages of records of each CPU; time goes on by a step with each one."""

    kallsyms = b""

    def __init__(self, step=1000):
        self.pages, self.here = {}, {}
        self.options = b""
        self.n_same = 0
        self.n, self.time, self.step, self.cpu = 0, 1 << 40, step, 0

    def at(self, cpu):
        self.cpu = cpu

    def close(self, cpu):
        first, records, missing, _ = self.here.pop(cpu, (0, b"", 0, 0))
        if records:
            page = struct.pack("<QQ", first, len(records) | missing) + bytes(records)
            self.pages.setdefault(cpu, []).append(page.ljust(PAGE, b"\0"))

    def lose(self):
        """Before the next record of this CPU, some are missing."""
        self.close(self.cpu)
        self.here[self.cpu] = (self.time, bytearray(), 1 << 31, self.time)

    def add(self, name, pid, *values):
        number, _, fields = EVENTS[name]
        data = struct.pack("<HBBi", number, 0, 0, pid)
        for (_, _, size, _), value in zip(fields, values):
            data += value if isinstance(value, bytes) else \
                struct.pack({4: "<I", 8: "<Q"}[size], value)
        first, records, missing, last = self.here.get(self.cpu, (self.time, bytearray(), 0, 0))
        if len(records) + 4 + len(data) > PAGE - 16 or self.time - first >= 1 << 27:
            self.close(self.cpu)
            first, records, missing = self.time, bytearray(), 0
        delta = self.time - last if records else 0
        records += struct.pack("<I", len(data) // 4 | delta << 5) + data
        self.here[self.cpu] = (first, records, missing, self.time)
        self.time += self.step
        self.n += 1

    def option(self, number, data):
        self.options += struct.pack("<HI", number, len(data)) + data

    def data(self):
        for cpu in list(self.here):
            self.close(cpu)
        head = b"\x17\x08Dtracing6\0\0\x08" + struct.pack("<I", PAGE)
        for name, text in (
                ("header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                 "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                 "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"),
                ("header_event", "# compressed entry header\n\ttype_len    :    5 bits\n"
                 "\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
                 "\tpadding     : type == 29\n\ttime_extend : type == 30\n"
                 "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")):
            head += name.encode() + b"\0" + struct.pack("<Q", len(text)) + text.encode()
        head += struct.pack("<II", 0, len({system for _, system, _ in EVENTS.values()}))
        for system in sorted({system for _, system, _ in EVENTS.values()}):
            texts = [event_format(name, number, fields).encode()
                     for name, (number, its, fields) in EVENTS.items() if its == system]
            head += system.encode() + b"\0" + struct.pack("<I", len(texts))
            for text in texts:
                head += struct.pack("<Q", len(text)) + text
        n_cpus = max(self.pages) + 1 + self.n_same
        head += struct.pack("<I", len(self.kallsyms)) + self.kallsyms + struct.pack("<IQI", 0, 0, n_cpus)
        head += b"options  \0" + self.options + struct.pack("<H", 0) + b"flyrecord\0"
        at = -(-(len(head) + 16 * n_cpus) // PAGE) * PAGE
        body = []
        for cpu in range(n_cpus):
            pages = self.pages.get(cpu, [])
            if cpu >= n_cpus - self.n_same:
                head += last
                continue
            last = struct.pack("<QQ", at, PAGE * len(pages))
            head += last
            at += PAGE * len(pages)
            body += pages
        return head.ljust(-(-len(head) // PAGE) * PAGE, b"\0") + b"".join(body)


FIRST_TID = 1000


def switch(dat, tid, to, state=1):
    dat.add("sched_switch", tid, state, b"t%d" % to + b"\0" * (15 - len(b"%d" % to)), to)


@family
def kvm_tids(n):
    """a vCPU's thread per entry and exit, far from each other: machines of their own"""
    dat = Dat()
    for i in range(n // 3):
        tid = FIRST_TID + 100 * i
        switch(dat, tid - 100, tid)
        dat.add("kvm_entry", tid, 0)
        dat.add("kvm_exit", tid, 1, 1, 0)
    return dat


@family
def kvm_one_machine(n):
    """one machine with all the vCPUs"""
    dat = Dat()
    for i in range(n // 2):
        dat.add("kvm_entry", FIRST_TID + i, i)
        dat.add("kvm_exit", FIRST_TID + i, 1, 1, i)
    return dat


@family
def kvm_tids_reasons(n):
    """a vCPU and a reason of its own per exit"""
    dat = Dat()
    for i in range(n // 2):
        dat.add("kvm_entry", FIRST_TID + i, i % 8)
        dat.add("kvm_exit", FIRST_TID + i, 100 + i, 1, i % 8)
    return dat


@family
def kvm_tasks(n):
    """a task per switch"""
    dat = Dat()
    dat.add("kvm_entry", FIRST_TID, 0)
    for i in range(n):
        switch(dat, FIRST_TID + i, FIRST_TID + i + 1, 0)
    return dat


@family
def kvm_waits(n):
    """many wait for one CPU, and many have it then"""
    dat = Dat()
    for i in range(n // 3):
        dat.add("kvm_entry", FIRST_TID + i, i)
        switch(dat, FIRST_TID + i, FIRST_TID + i + 1, 0)
    for i in range(n // 3, n // 3 * 2):
        switch(dat, FIRST_TID + i, FIRST_TID + i + 1, 0)
    return dat


@family
def kvm_losses(n):
    """records are lost, again and again, of many vCPUs"""
    dat = Dat()
    for i in range(n):
        dat.add("kvm_entry", FIRST_TID + i, i % 8)
    for i in range(n // 100):
        dat.lose()
        dat.add("kvm_entry", FIRST_TID + i, i % 8)
    return dat


@family
def kvm_cpus(n):
    """as many CPUs as pages"""
    dat = Dat()
    for i in range(n // 100):
        dat.at(i)
        for _ in range(10):
            dat.add("kvm_entry", FIRST_TID + i, 0)
            dat.add("kvm_exit", FIRST_TID + i, 1, 1, 0)
    return dat


@family
def kvm_same_pages(n):
    """many CPUs whose records are the same ones"""
    dat = Dat()
    for i in range(n // 2):
        dat.add("kvm_entry", FIRST_TID, 0)
    dat.n_same = n // 8
    return dat


@family
def kvm_guests(n):
    """a guest per entry in the list of guests"""
    dat = Dat()
    dat.add("kvm_entry", FIRST_TID, 0)
    for i in range(n):
        name = b"g%d\0" % i if i % 2 else b"x\0"
        dat.option(20, name + struct.pack("<QIIi", i, 1, 0, FIRST_TID + i))
    return dat


@family
def kvm_offsets(n):
    """a TSC offset per record, and vCPUs"""
    dat = Dat()
    for i in range(n // 2):
        dat.add("kvm_write_tsc_offset", FIRST_TID + i, 0, i)
        dat.add("kvm_entry", FIRST_TID + i, 0)
    return dat


@family
def kvm_interrupts(n):
    """interrupts of one vCPU of all vectors, and entries"""
    dat = Dat()
    for i in range(n // 2):
        dat.add("kvm_inj_virq", FIRST_TID, i & 0xff)
        dat.add("kvm_hypercall", FIRST_TID, i)
    return dat


@family
def kvm_delivery(n, part=0):
    """a host that injects, and a guest that has handlers: never those"""
    dat = Dat()
    for i in range(n // 4):
        if part:
            dat.add("local_timer_entry", 1, 236 - i % 2)
            dat.time += 3 * dat.step
            continue
        dat.add("kvm_inj_virq", FIRST_TID, 100 + i % 100)
        dat.add("kvm_entry", FIRST_TID, 0)
        dat.time += dat.step
        dat.add("kvm_exit", FIRST_TID, 1, 1, 0)
    if not part:
        dat.option(20, b"guest\0" + struct.pack("<QIIi", 1, 1, 0, FIRST_TID))
    return dat


# --- tables of results ----------------------------------------------------------------------------

class Table:
    """Lines of a table of values."""

    def __init__(self):
        self.lines, self.n = ["run,metric,value"], 0

    def add(self, run, metric, value):
        self.lines.append("%d,%d,%d" % (run, metric, value))
        self.n += 1

    def data(self):
        return "\n".join(self.lines + [""]).encode("ascii")


@family
def table_pairs(n):
    """as many differences as a table can have for its size: of two values each"""
    table = Table()
    for metric in range(min(n // 10, 1000)):
        for run in range(64):
            for i in range(2):
                table.add(run, metric, (7 * run + 13 * metric + 5 * i) % 97 % 10)
    return table


def main():
    if len(sys.argv) < 4:
        for name, function in FAMILIES.items():
            print("%-20s%s" % (name, function.__doc__))
        return
    more = [int(arg) for arg in sys.argv[4:]]
    made = FAMILIES[sys.argv[1]](int(sys.argv[2]), *more)
    with open(sys.argv[3], "wb") as out:
        out.write(made.data())
    print(made.n)


if __name__ == "__main__":
    main()
