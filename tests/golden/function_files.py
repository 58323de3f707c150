#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of functions by ftrace's tracers: function_files.py STORY FILE. Each story has a function of this name.

Times are us from the beginning on; what the tests expect is beside each call: (function, calls, complete, total, own,
calls of known own time, time on CPUs, calls of which that is known), in us.
"""
import json
import sys

import scale_files
from scale_files import Dat

FUNC = ("unsigned long", "func", 8, 0)
scale_files.EVENTS = dict(scale_files.EVENTS)
for number, name, fields in (
        (1001, "function", (("unsigned long", "ip", 8, 0), ("unsigned long", "parent_ip", 8, 0))),
        (1002, "funcgraph_entry", (FUNC, ("int", "depth", 4, 1))),
        (1003, "funcgraph_exit", (FUNC, ("int", "depth", 4, 1), ("unsigned int", "overrun", 4, 0),
                                  ("unsigned long long", "calltime", 8, 0), ("unsigned long long", "rettime", 8, 0))),
        (1004, "fgraph_retaddr_entry", (FUNC, ("int", "depth", 4, 1), ("unsigned long", "retaddr", 8, 0)))):
    scale_files.EVENTS[name] = (number, "ftrace", fields)

# as in KALLSYMS; ftrace's place is behind an endbr64 in some
READ, OPEN, SLEEP, LOCK, NAMELESS = (0xffffffff81000000, 0xffffffff81000104, 0xffffffff81000200, 0xffffffff81000300,
                                     0xffffffff81000450)
KALLSYMS = """ffffffff81000000 T vfs_read
ffffffff81000100 T vfs_open
ffffffff81000200 t do_nanosleep
ffffffff81000300 T mutex_lock
ffffffff81000400 T something_else
"""
BEGIN = 1 << 40


class Kernel(Dat):
    """A kernel with two CPUs, which records its functions."""

    def __init__(self, switches=True):
        super().__init__(step=0)
        self.clock = 7000000        # function_graph has a clock of its own
        if switches:
            for cpu, pid in ((0, 10), (1, 20)):
                self.switch(0, cpu, 0, pid)

    def when(self, us, cpu):
        self.at(cpu)
        self.time = BEGIN + 1000 * us

    def switch(self, us, cpu, before, after, state=1):
        self.when(us, cpu)
        self.add("sched_switch", before, state, b"t%d" % after + b"\0" * (15 - len(b"%d" % after)), after)

    def call(self, us, cpu, pid, function, parent=OPEN):
        self.when(us, cpu)
        self.add("function", pid, function, parent)

    def enter(self, us, cpu, pid, function, depth, name="funcgraph_entry"):
        self.when(us, cpu)
        self.add(name, pid, function, depth % 2**32, *([0xffffffff81000333] if name != "funcgraph_entry" else []))

    def leave(self, us, cpu, pid, function, depth, took):
        self.when(us, cpu)
        end = self.clock + 1000 * us
        self.add("funcgraph_exit", pid, function, depth % 2**32, 0, (end - 1000 * took) % 2**64, end)


STORIES = {}


def story(function):
    STORIES[function.__name__] = function
    return function


@story
def calls():
    """The tracer function: two tasks and the idle task, on two CPUs."""
    kernel = Kernel()
    for i in range(4):
        kernel.call(10 + i, 0, 10, READ)
    for i in range(2):
        kernel.call(20 + i, 1, 20, OPEN)
        kernel.call(20 + i, 1, 20, LOCK)
    kernel.call(30, 1, 0, NAMELESS)
    return kernel, [("vfs_read", 4), ("vfs_open", 2), ("mutex_lock", 2), ("0xffffffff81000450", 1)]


@story
def named():
    """The same; the file itself has the names."""
    kernel, got = calls()
    kernel.kallsyms = KALLSYMS.encode()
    return kernel, got


@story
def nested():
    """Calls within calls, of the same function as well, and on two CPUs at once."""
    kernel = Kernel()
    kernel.enter(10, 0, 10, READ, 0)
    kernel.enter(12, 0, 10, LOCK, 1)
    kernel.enter(12, 1, 20, READ, 0)
    kernel.leave(15, 0, 10, LOCK, 1, 3)
    kernel.enter(16, 0, 10, READ, 1, "fgraph_retaddr_entry")
    kernel.leave(17, 1, 20, READ, 0, 5)
    kernel.leave(20, 0, 10, READ, 1, 4)
    kernel.leave(30, 0, 10, READ, 0, 20)
    # a function ends at once; another one has no end
    kernel.enter(40, 0, 10, OPEN, 0)
    kernel.leave(40, 0, 10, OPEN, 0, 0)
    kernel.enter(41, 1, 20, SLEEP, 0)
    kernel.enter(42, 1, 20, LOCK, 1)
    kernel.leave(44, 1, 20, LOCK, 1, 2)
    return kernel, [("vfs_read", 3, 3, 29, 22, 3, 29, 3), ("mutex_lock", 2, 2, 5, 5, 2, 5, 2),
                    ("vfs_open", 1, 1, 0, 0, 1, 0, 1), ("do_nanosleep", 1, 0, 0, 0, 0, 0, 0)]


@story
def asleep():
    """A task sleeps in a function, and goes on on another CPU; a third one has its CPU."""
    kernel = Kernel()
    kernel.enter(10, 0, 10, SLEEP, 0)
    kernel.switch(15, 0, 10, 30)
    # between the record of a switch and the switch, the old task may call functions
    kernel.enter(15, 0, 10, LOCK, 1)
    kernel.leave(15, 0, 10, LOCK, 1, 0)
    kernel.enter(20, 0, 30, READ, 0)
    kernel.leave(24, 0, 30, READ, 0, 4)
    kernel.switch(100, 1, 20, 10)
    kernel.leave(107, 1, 10, SLEEP, 0, 97)
    return kernel, [("do_nanosleep", 1, 1, 97, 97, 1, 12, 1), ("vfs_read", 1, 1, 4, 4, 1, 4, 1),
                    ("mutex_lock", 1, 1, 0, 0, 1, 0, 1)]


@story
def unswitched():
    """Without switches, it is not known when a task has a CPU."""
    kernel = Kernel(switches=False)
    kernel.enter(10, 0, 10, SLEEP, 0)
    kernel.leave(107, 0, 10, SLEEP, 0, 97)
    return kernel, [("do_nanosleep", 1, 1, 97, 97, 1, None, None)]


@story
def before():
    """Ends of calls that began before the trace, and of one whose beginning was not recorded."""
    kernel = Kernel()
    kernel.leave(5, 0, 10, READ, 1, 50)
    kernel.leave(6, 0, 10, OPEN, 0, 60)
    kernel.leave(20, 1, 20, LOCK, 0, 8)
    kernel.enter(30, 1, 20, READ, 0)
    kernel.leave(32, 1, 20, LOCK, 1, 1)
    kernel.leave(33, 1, 20, READ, 0, 3)
    return kernel, [("mutex_lock", 2, 2, 9, 0, 0, 0, 0), ("vfs_read", 1, 1, 3, 2, 1, 3, 1)], 2


@story
def lossy():
    """Records of CPU 1 are missing from 30 to 50 us: the end of one call and the beginning of the next."""
    kernel = Kernel()
    kernel.enter(10, 1, 20, READ, 0)
    kernel.enter(11, 1, 20, LOCK, 1)
    kernel.leave(12, 1, 20, LOCK, 1, 1)
    kernel.enter(25, 1, 20, OPEN, 1)
    # on another CPU: it goes on in the gap, or begins and ends in it
    kernel.enter(26, 0, 10, READ, 0)
    kernel.enter(30, 1, 20, LOCK, 2)
    kernel.enter(33, 0, 10, LOCK, 1)
    kernel.leave(36, 0, 10, LOCK, 1, 3)
    kernel.when(50, 1)
    kernel.lose()
    # this one is not the one of before
    kernel.leave(50, 1, 20, OPEN, 1, 10)
    kernel.leave(60, 1, 20, READ, 0, 50)
    kernel.leave(66, 0, 10, READ, 0, 40)
    kernel.enter(70, 1, 20, READ, 0)
    kernel.leave(73, 1, 20, READ, 0, 3)
    return kernel, [("vfs_read", 3, 3, 93, 3, 1, 3, 1), ("mutex_lock", 3, 2, 4, 1, 1, 1, 1),
                    ("vfs_open", 2, 1, 10, 0, 0, 0, 0)], 0, None


@story
def strange():
    """Ends before their beginnings, depths that do not follow, a task on two CPUs, calls of 120 years."""
    kernel = Kernel()
    kernel.clock = 5 * 10 ** 18
    for us in range(3):
        kernel.enter(us, 0, 10, SLEEP, 0)
        kernel.enter(us, 0, 10, NAMELESS, 1)
        kernel.leave(us, 0, 10, NAMELESS, 1, 4 * 10 ** 15)
        kernel.leave(us, 0, 10, SLEEP, 0, 4 * 10 ** 15 - us)
    kernel.enter(10, 0, 10, READ, 3)
    kernel.enter(12, 0, 10, LOCK, 3)
    kernel.leave(13, 0, 10, LOCK, 3, 1)
    kernel.leave(14, 0, 10, LOCK, 3, -5)
    kernel.enter(15, 1, 10, OPEN, -1)
    kernel.leave(16, 1, 10, OPEN, -1, 1)
    kernel.enter(17, 0, 10, READ, 2 ** 31 - 1)
    kernel.leave(18, 0, 10, READ, -2 ** 31, 1 << 40)
    return kernel, None


def main(name, path):
    made = STORIES[name]()
    kernel = made[0]
    with open(path, "wb") as file:
        file.write(kernel.data())
    got = {"functions": made[1], "before": made[2] if len(made) > 2 else 0,
            "lost": made[3] if len(made) > 3 else 0}
    with open(path + ".truth", "w") as file:
        json.dump(got, file)
    with open("kallsyms", "w") as file:
        file.write(KALLSYMS)


def rows(group, keys):
    """Of functions; a tracer that shows calls alone has nothing else."""
    for function in group["functions"]:
        yield [function["name"], *[function[key] for key in keys if key in function]]


def compare(got, truth):
    """Is the report what a story says?"""
    group = json.load(open(got))["functions"][-1]
    truth = json.load(open(truth))
    keys = ("calls", "complete", "total_ns", "own_ns", "own_calls", "cpu_ns", "cpu_calls")
    right = sorted([name, *[number and number * (1000 if key.endswith("_ns") else 1)
                            for key, number in zip(keys, numbers)]] for name, *numbers in truth["functions"])
    for what, a, b in (("functions", sorted(rows(group, keys)), right), ("before", group["before"], truth["before"]),
                       ("lost", group["lost"], truth["lost"])):
        if a != b:
            print(what, a, "not", b, sep="\n    ")
            sys.exit(1)


def add(*paths):
    """Are the numbers of the first report those of the others together?"""
    keys = ("calls", "complete", "total_ns", "own_ns", "own_calls", "cpu_ns", "cpu_calls")
    sums = []
    for path in paths:
        sums.append({})
        for group in json.load(open(path))["functions"]:
            for name, *numbers in rows(group, keys):
                for key, number in zip(keys, numbers):
                    sums[-1][name, key] = sums[-1].get((name, key), 0) + (number or 0)
    together = {}
    for part in sums[1:]:
        for key, number in part.items():
            together[key] = together.get(key, 0) + number
    if {key: number for key, number in sums[0].items() if number} != \
       {key: number for key, number in together.items() if number}:
        print(sums[0], together, sep="\n")
        sys.exit(1)


def same(key, *paths):
    """Do functions have the same calls and durations? By name, or by address."""
    found = []
    for path in paths:
        found.append({})
        for function in json.load(open(path))["functions"][0]["functions"]:
            numbers = found[-1].setdefault(function[key], [0] * 5)
            for i, number in enumerate(("calls", "complete", "total_ns", "own_ns", "own_calls")):
                numbers[i] += function.get(number, 0)
    if found[0] != found[1] or len(found[0]) < 40:
        print(len(found[0]), len(found[1]), *[each for each in found[0].items() if each not in found[1].items()][:5])
        sys.exit(1)


if sys.argv[1] == "same":
    same(*sys.argv[2:])
elif sys.argv[1] == "compare":
    compare(*sys.argv[2:])
elif sys.argv[1] == "add":
    add(*sys.argv[2:])
else:
    main(*sys.argv[1:])
