# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces of Xen with core scheduling, as sched_switch_units() writes them, and what is true of them.

core_sched.py make SEED GRANULARITY TRACE PART TRUTH: write a trace, its second half, and the truth
core_sched.py judge REPORT TRUTH all|part: compare a report's JSON with the truth. All records give
the truth; some of them give no more than it.
"""
import json
import random
import struct
import sys

IDLE = 0x7fff
RUNNING, RUNNABLE, BLOCKED = 0, 1, 2
SWITCH = 0x2800a
ENTRY, EXIT = 0x81001, 0x81102


def change(old, new):
    return 0x21001 | old << 8 | new << 4


class Host:
    def __init__(self, rng, granularity, n_cores):
        self.rng, self.granularity = rng, granularity
        self.n_pcpus = granularity * n_cores
        self.records = [[] for _ in range(self.n_pcpus)]
        self.on = [(IDLE, pcpu) for pcpu in range(self.n_pcpus)]
        self.since = [0] * self.n_pcpus
        self.state = {}
        self.ran = {}
        self.exits = {}
        self.now = 1000

    def write(self, pcpu, event, *words):
        self.records[pcpu].append((self.now, event, words))
        self.now += self.rng.randint(3, 9)

    def runstate(self, writer, vcpu, new):
        old = self.state.get(vcpu, RUNNABLE)
        self.write(writer, change(old, new), vcpu[0] << 16 | vcpu[1])
        self.state[vcpu] = new

    def put(self, writer, pcpu, vcpu, left=RUNNABLE):
        """A vCPU takes the place of another one on a pCPU; @writer records it."""
        before = self.on[pcpu]
        if before == vcpu:
            return
        ends = self.now
        self.runstate(writer, before, left)
        self.count(pcpu, ends)
        self.runstate(writer, vcpu, RUNNING)
        self.on[pcpu], self.since[pcpu] = vcpu, self.records[writer][-1][0]

    def count(self, pcpu, until):
        vcpu = self.on[pcpu]
        if vcpu[0] != IDLE:
            ran = self.ran.setdefault("d%dv%d" % vcpu, {})
            ran[str(pcpu)] = ran.get(str(pcpu), 0) + until - self.since[pcpu]

    def switch(self, core, unit, runnable):
        """One of the core's pCPUs decides for all of them. @unit: (domain, its number) or None"""
        first = core * self.granularity
        writer = first + self.rng.randrange(self.granularity)
        self.write(writer, SWITCH, 1, 0, unit[0] if unit else IDLE, 0)
        for i in range(self.granularity):
            vcpu = (unit[0], unit[1] * self.granularity + i) if unit else None
            self.put(writer, first + i, vcpu if vcpu in runnable else (IDLE, first + i))

    def leave_guests(self):
        for pcpu, vcpu in enumerate(self.on):
            if vcpu[0] == IDLE:
                continue
            for _ in range(self.rng.randint(1, 3)):
                self.now += self.rng.randint(100, 3000)
                self.write(pcpu, ENTRY)
                self.now += self.rng.randint(100, 3000)
                self.write(pcpu, EXIT, 12 + pcpu, 0x80100000, 0xffff8300)
                name = "d%dv%d" % vcpu
                self.exits[name] = self.exits.get(name, 0) + 1


def live(host, domains, rounds):
    """@domains: number: vCPUs"""
    rng, size = host.rng, host.granularity
    units = [(d, i) for d, n in domains.items() for i in range((n + size - 1) // size)]
    everybody = [(d, i) for d, n in domains.items() for i in range(n)]
    n_cores = host.n_pcpus // size
    for _ in range(rounds):
        chosen = units + [None] * n_cores
        rng.shuffle(chosen)
        runnable = {v for v in everybody if rng.random() < 0.8}
        # a unit leaves its core before it comes to another one
        busy = rng.sample(range(n_cores), n_cores)
        for core in busy:
            host.switch(core, None, runnable)
        for core, unit in zip(busy, chosen):
            host.switch(core, unit, runnable)
            host.leave_guests()
        # one vCPU of a unit sleeps, and wakes up: its own pCPU records that
        pcpu = rng.randrange(host.n_pcpus)
        vcpu = host.on[pcpu]
        if vcpu[0] != IDLE:
            host.put(pcpu, pcpu, (IDLE, pcpu), BLOCKED)
            host.now += 2000
            host.runstate(pcpu, vcpu, RUNNABLE)
            host.put(pcpu, pcpu, vcpu)
            host.leave_guests()
    for pcpu in range(host.n_pcpus):
        host.write(pcpu, 0x201003, 0)
    last = max(records[-1][0] for records in host.records) + 1
    for pcpu in range(host.n_pcpus):
        host.count(pcpu, last)


def save(path, all_records, begin):
    with open(path, "wb") as out:
        for pcpu, records in enumerate(all_records):
            data = b"".join(struct.pack("<IQ%dI" % len(words), 1 << 31 | len(words) << 28 | event,
                                        tsc, *words)
                            for tsc, event, words in records if tsc >= begin)
            if data:
                out.write(struct.pack("<III", 0x2001f003, pcpu, len(data)) + data)


def make(seed, granularity, trace, part, truth):
    rng = random.Random(int(seed))
    host = Host(rng, int(granularity), 2)
    live(host, {0: 3, 1: 2 * int(granularity), 2: 1, 3: int(granularity)}, 40)
    save(trace, host.records, 0)
    save(part, host.records, host.now // 2)
    with open(truth, "w") as out:
        json.dump({"ran": host.ran, "exits": host.exits}, out)


def judge(report, truth, how):
    with open(report) as a, open(truth) as b:
        report, truth = json.load(a), json.load(b)
    wrong, seen = [], 0
    for vcpu in (v for machine in report["machines"] for v in machine["vcpus"]):
        name = vcpu["vcpu"]
        pairs = [("p" + pcpu, ns, truth["ran"].get(name, {}).get(pcpu, 0))
                 for pcpu, ns in vcpu["pcpus_ns"].items()]
        pairs.append(("exits", sum(e["count"] for e in vcpu["exits"]),
                      truth["exits"].get(name, 0)))
        if how == "all":
            wrong += [(name, pcpu, "not there") for pcpu in truth["ran"].get(name, {})
                      if pcpu not in vcpu["pcpus_ns"]]
        seen += sum(value for _, value, _ in pairs)
        for what, value, right in pairs:
            if value != right if how == "all" else value > right:
                wrong.append((name, what, value, right))
    if not seen:
        wrong.append("nothing is there")
    for line in wrong:
        print(line)
    sys.exit(bool(wrong))


{"make": make, "judge": judge}[sys.argv[1]](*sys.argv[2:])
