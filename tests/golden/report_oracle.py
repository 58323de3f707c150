#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check "kshark-virt report" against the records themselves and against xenalyze.

Usage: report_oracle.py TRACE DUMP.csv REPORT.json XENALYZE.txt

TRACE is the file itself; DUMP.csv comes from "kshark-virt dump --format csv", REPORT.json from
"report --format json" and XENALYZE.txt from "xenalyze --summary", all with the same frequency.

1. The timeline of every vCPU is computed anew from the records, in the plainest way, and compared
   with the report: time and number of stretches in each state, migrations, exits by reason. To the
   nanosecond.
2. xenalyze's rules are applied to the same records, in cycles, and compared with what it prints:
   number and mean of the intervals of each runstate must be equal. So these are its rules.
3. Both timelines are laid over each other. Where they differ, there is a reason, and the time of
   each is printed:
     beginning  xenalyze begins with the first time that a record puts the vCPU on a pCPU; for us,
                the vCPU found on a pCPU has been there since that pCPU's first record, or since
                all have been emptied once; who blocks or is offline before its first change, since
                then, too
     end        xenalyze does not count the state in which the trace ends, and takes a running vCPU
                off with the last record of its pCPU
     lost       after lost records, xenalyze waits for a record that puts the vCPU on a pCPU; for us
                any record of it shows it
   Everything else is a failure. Percentiles are not compared: xenalyze's come from a sample.
"""
import collections
import csv
import json
import re
import struct
import sys

CHANGE = re.compile(r"^(running|runnable|blocked|offline)_to_(running|runnable|blocked|offline)$")
NAMED = re.compile(r"\bvcpu=d(\w+|\[idle\])v(\d+)\b")
IDLE = "idle"
RUN = ("guest", "hypervisor")

Row = collections.namedtuple("Row", "tsc ns pcpu event info")


def read_rows(path):
    rows = []
    for r in csv.DictReader(open(path, newline="")):
        rows.append(Row(int(r["tsc"]), int(r["time_ns"]), int(r["pcpu"]), r["event"], r["info"]))
    return rows


def vcpu_of(info):
    m = NAMED.search(info)
    return IDLE if m[1] == "[idle]" else (int(m[1]), int(m[2]))


def lost_vcpu(info):
    m = re.search(r"domid=d(\w+|\[idle\]) vcpu=(\d+)", info)
    return IDLE if m[1] == "[idle]" else (int(m[1]), int(m[2]))


def first_lost(info):
    return int(re.search(r"first_tsc=(\d+)", info)[1])


def first_turn(path):
    """The highest TSC in the windows of the first turn; None if there is no other turn."""
    data, at, last, seen = open(path, "rb").read(), 0, -1, None
    while at < len(data):
        event, pcpu, size = struct.unpack_from("<III", data, at)
        assert event & 0x0fffffff == 0x0001f003, "no window at %d" % at
        if pcpu <= last:
            return seen
        last, at = pcpu, at + 12
        end = at + size
        while at < end:
            header, = struct.unpack_from("<I", data, at)
            if header >> 31:
                seen = max(seen or 0, *struct.unpack_from("<Q", data, at + 4))
            at += 4 + 4 * (header >> 28 & 7) + 8 * (header >> 31)
    return None


def changes(rows):
    """Runstate changes and continuations: row -> (vcpu, old, new)"""
    found = {}
    for i, row in enumerate(rows):
        m = CHANGE.match(row.event)
        if m:
            found[i] = (vcpu_of(row.info), m[1], m[2])
        elif row.event == "continue_running":
            found[i] = (vcpu_of(row.info), "running", "running")
    return found


class Timeline:
    """Changes of one vCPU: [time, state, pcpu]; the state UNKNOWN to begin with."""

    def __init__(self, begin):
        self.points = [[begin, "unknown", None]]
        self.exits = []

    def set(self, when, state, pcpu):
        last = self.points[-1]
        if last[0] == when:
            last[1:] = [state, pcpu]
            if len(self.points) > 1 and self.points[-2][1:] == last[1:]:
                self.points.pop()
        elif last[1:] != [state, pcpu]:
            self.points.append([when, state, pcpu])

    def intervals(self, end):
        ends = [p[0] for p in self.points[1:]] + [end]
        return [(p[0], e, p[1], p[2]) for p, e in zip(self.points, ends)]


def timelines(rows, hz, turn):
    """What every vCPU did, in ns, by our rules."""
    base = rows[0].tsc
    begin = rows[0].ns
    whole = begin       # no record is missing since then
    if turn is not None:
        whole = max(begin, (turn - base) * 10**9 // hz)
    changed = changes(rows)
    hvm = set()
    losses = {}
    last_on = {}
    first_on = {}
    first_known = {}
    current = {}
    for i, row in enumerate(rows):
        first_on.setdefault(row.pcpu, row)
        if row.event == "lost_records":
            from_ns = (first_lost(row.info) - base) * 10**9 // hz
            losses[i] = max(from_ns, begin, last_on.get(row.pcpu, begin))
            first_known.setdefault(row.pcpu, None)
        if i in changed and changed[i][1] == "running":
            first_known.setdefault(row.pcpu, (i, changed[i][0]))
        elif i in changed and changed[i][2] == "running":
            first_known.setdefault(row.pcpu, None)
        last_on[row.pcpu] = row.ns

    # what happens, in order: (time, order, kind, ...)
    happens = []
    for pcpu, first in first_known.items():
        if first and first[1] != IDLE:
            happens.append((min(whole, first_on[pcpu].ns), -1, "found", pcpu, first[1]))
    for i, since in losses.items():
        # after the records of the same time, but before the record of the loss
        happens.append((since, i - 0.5 if since == rows[i].ns else len(rows), "lose",
                        rows[i].pcpu, None))
    for i, row in enumerate(rows):
        if i in changed:
            happens.append((row.ns, i, "change", row.pcpu, changed[i]))
        elif row.event == "lost_records":
            happens.append((row.ns, i, "known", row.pcpu, lost_vcpu(row.info)))
        elif "vmentry" in row.event:
            happens.append((row.ns, i, "entry", row.pcpu, None))
        elif "vmexit" in row.event:
            reason = re.search(r"exit_reason=(\S+)", row.info)[1]
            happens.append((row.ns, i, "exit", row.pcpu, reason))
    happens.sort(key=lambda h: h[:2])

    # which domains are HVM: who is there when an entry or exit happens
    for _, _, kind, pcpu, what in happens:
        if kind == "change":
            vcpu, old, new = what
            if new == "running":
                current[pcpu] = vcpu
            elif current.get(pcpu) == vcpu:
                current[pcpu] = None
        elif kind in ("found", "known"):
            current[pcpu] = what
        elif kind == "lose":
            current[pcpu] = None
        elif current.get(pcpu) not in (None, IDLE):
            hvm.add(current[pcpu][0])

    lines = collections.defaultdict(lambda: Timeline(begin))
    there = {}          # pcpu -> vcpu
    pending = {}        # vcpu -> (since, pcpu): on a pCPU, in the guest or not
    lost = set()

    def settle(vcpu, state):
        if vcpu in pending:
            since, pcpu = pending.pop(vcpu)
            lines[vcpu].set(since, state, pcpu)

    def leave(vcpu, when, state, pcpu):
        settle(vcpu, "hypervisor" if vcpu[0] in hvm else "guest")
        lines[vcpu].set(when, state, pcpu)

    def where(vcpu):
        return next((p for p, v in there.items() if v == vcpu), None)

    for when, _, kind, pcpu, what in happens:
        vcpu = there.get(pcpu)
        if kind in ("found", "known"):
            there[pcpu] = what
            if pcpu in lost:
                lost.remove(pcpu)
                whole = max(whole, when) if not lost else whole
            if what != IDLE:
                lines[what]
                pending[what] = (when, pcpu)
        elif kind == "lose":
            lost.add(pcpu)
            if vcpu and vcpu != IDLE:
                leave(vcpu, when, "unknown", pcpu)
            there[pcpu] = None
            for other, line in lines.items():
                if other not in there.values() and line.points[-1][1] != "unknown":
                    line.set(when, "unknown", line.points[-1][2])
        elif kind in ("entry", "exit"):
            if not vcpu or vcpu == IDLE:
                continue
            if kind == "entry":
                settle(vcpu, "hypervisor")
                lines[vcpu].set(when, "guest", pcpu)
            else:
                settle(vcpu, "guest")
                lines[vcpu].exits.append(what)
                lines[vcpu].set(when, "hypervisor", pcpu)
        else:
            who, old, new = what
            if who == IDLE:
                if vcpu and vcpu != IDLE and new == "running":
                    sys.exit("contradiction at %d ns" % when)
                there[pcpu] = IDLE if new == "running" else None
                continue
            if (old in ("blocked", "offline") and not lost and when >= whole and
                    who not in there.values() and
                    lines[who].points[-1][1] == "unknown" and lines[who].points[-1][0] <= whole):
                lines[who].set(whole, old, lines[who].points[-1][2])
            if new == "running":
                if where(who) == pcpu:
                    continue
                there[pcpu] = who
                if who[0] in hvm:
                    lines[who].set(when, "hypervisor", pcpu)
                else:
                    lines[who]
                    pending[who] = (when, pcpu)
                continue
            state = {"blocked": "blocked", "offline": "offline"}.get(new)
            if not state:
                state = "preempted" if old == "running" else "waking"
            if lost:
                state = "unknown"
            if old == "running":
                leave(who, when, state, pcpu)
                there[pcpu] = None
            else:
                lines[who].set(when, state, lines[who].points[-1][2])
    for vcpu in list(pending):
        settle(vcpu, "unknown" if vcpu[0] in hvm else "guest")
    return lines, rows[-1].ns + 1


def check_report(report, lines, end, fail):
    ours = {(m["id"], v["id"]): v for m in report["machines"] for v in m["vcpus"]}
    if set(ours) != set(lines):
        fail("vCPUs: report %s, records %s" % (sorted(ours), sorted(lines)))
    compared = 0
    for vcpu in sorted(set(ours) & set(lines)):
        ns, count = collections.Counter(), collections.Counter()
        places, migrations, last = collections.Counter(), 0, None
        before = None
        for start, stop, state, pcpu in lines[vcpu].intervals(end):
            ns[state] += stop - start
            # an exit is a stretch of its own, wherever it comes from; a wait is one on all pCPUs;
            # and what is in force when the trace begins did not begin then
            count[state] += before is not None and (state in RUN or state != before)
            before = state
            if state in RUN:
                places[str(pcpu)] += stop - start
                migrations += last not in (None, pcpu)
                last = pcpu
        vmexits = not any(r["record"].startswith("the class hvm") for r in report.get("not_recorded", []))
        if not vmexits and any(v.exits for v in lines.values()):
            fail("the class hvm was recorded, the report says it was not")
        states = dict(ours[vcpu]["states"])
        # Xen's records call both offline
        waits, away = states.pop("device_model"), states["offline"]
        states["offline"] = {key: (waits[key] or 0) + away[key] for key in ("total_ns", "count")}
        if not vmexits and waits["total_ns"] is not None:
            fail("%s device_model: report %d ns, not null" % (vcpu, waits["total_ns"]))
        for state, reported in states.items():
            compared += 2
            if state == "hypervisor" and not vmexits:
                if reported["total_ns"] is not None or reported["count"] is not None or ns[state]:
                    fail("%s hypervisor: report %s ns in %s stretches, not null" %
                         (vcpu, reported["total_ns"], reported["count"]))
                continue
            if reported["total_ns"] != ns[state]:
                fail("%s %s: report %d ns, records %d ns" % (vcpu, state, reported["total_ns"], ns[state]))
            if reported["count"] != count[state]:
                fail("%s %s: report %d stretches, records %d" %
                     (vcpu, state, reported["count"], count[state]))
        if ours[vcpu]["migrations"] != migrations:
            fail("%s: report %d migrations, records %d" %
                 (vcpu, ours[vcpu]["migrations"], migrations))
        if ours[vcpu]["pcpus_ns"] != places:
            fail("%s: time on pCPUs: report %s, records %s" %
                 (vcpu, ours[vcpu]["pcpus_ns"], places))
        if not vmexits:
            if ours[vcpu]["exits"] is not None:
                fail("%s: exits: report %s, not null" % (vcpu, ours[vcpu]["exits"]))
            continue
        exits = {e["reason"]: e["count"] for e in ours[vcpu]["exits"]}
        if exits != collections.Counter(lines[vcpu].exits):
            fail("%s: exits: report %s, records %s" %
                 (vcpu, exits, collections.Counter(lines[vcpu].exits)))
    print("  %d vCPUs, %d numbers equal to the nanosecond" % (len(lines), compared))


def xenalyze_rules(rows):
    """Its timeline in cycles: vcpu -> [(start, end, state)], all closed ones."""
    changed = changes(rows)
    state, since, spans = {}, {}, collections.defaultdict(list)
    current, lost, first = {}, {}, {}

    def update(vcpu, new, tsc):
        if vcpu in state and since[vcpu] and since[vcpu] < tsc:
            spans[vcpu].append((since[vcpu], tsc, state[vcpu]))
        if new == "runnable":
            new = {"running": "preempt", "blocked": "wake", "offline": "wake"}.get(
                state.get(vcpu), "other")
        state[vcpu], since[vcpu] = new, tsc

    order, last = [], {}
    for i, row in enumerate(rows):
        last[row.pcpu] = i
        if row.event == "lost_records":
            order.append((first_lost(row.info), i, "lose"))
        order.append((row.tsc, i, "end" if row.event == "lost_records" else ""))
    order.sort(key=lambda o: o[:2])
    for tsc, i, kind in order:
        row = rows[i]
        first.setdefault(row.pcpu, row.tsc)
        if kind == "lose":
            vcpu = current.pop(row.pcpu, None)
            if vcpu:
                update(vcpu, "lost", tsc)
            lost[row.pcpu] = True
            for other in state:
                if state[other] != "running":
                    update(other, "lost", tsc)
        elif kind == "end":
            vcpu = lost_vcpu(row.info)
            lost.pop(row.pcpu, None)
            update(vcpu if vcpu != IDLE else (IDLE, row.pcpu), "running", tsc)
            current[row.pcpu] = vcpu if vcpu != IDLE else (IDLE, row.pcpu)
        elif i in changed:
            vcpu, old, new = changed[i]
            if vcpu == IDLE:
                vcpu = (IDLE, row.pcpu)
            if vcpu not in state:
                if new == "running":
                    update(vcpu, "running", first[row.pcpu] if old == "running" else tsc)
                    current[row.pcpu] = vcpu
            elif state[vcpu] == "lost":
                if new == "running":
                    if row.event == "continue_running" and current.get(row.pcpu):
                        update(current[row.pcpu], "lost", tsc)
                    update(vcpu, "running", tsc)
                    current[row.pcpu] = vcpu
            else:
                if new == "running":
                    current[row.pcpu] = vcpu
                elif old == "running":
                    current.pop(row.pcpu, None)
                update(vcpu, new, tsc)
                if old == "running" and new != "running" and lost and vcpu[0] != IDLE:
                    update(vcpu, "lost", tsc)
        if last[row.pcpu] == i and kind != "lose" and current.get(row.pcpu):
            # no more records of this pCPU
            update(current.pop(row.pcpu), "lost", row.tsc)
    return spans


def check_xenalyze(path, spans, fail):
    """Number and mean of each runstate's intervals."""
    domain, vcpu, compared = None, None, 0
    names = {"running": ("running",), "blocked": ("blocked",), "offline": ("offline",),
             "lost": ("lost",), "wake": ("wake",), "preempt": ("preempt",),
             "runnable": ("wake", "preempt", "other")}
    section = ""
    for text in open(path, errors="replace"):
        m = re.match(r"\|-- Domain (\d+) --\|", text)
        if m:
            domain, vcpu = int(m[1]), None
        m = re.match(r"-- v(\d+) --", text)
        if m:
            vcpu = int(m[1])
        if not text.startswith("  "):
            section = text.strip()
        m = re.match(r" +(\w+): +(\d+) +([\d.]+)s +(\d+) ", text)
        if not m or vcpu is None or section != "Runstates:" or m[1] not in names:
            continue
        if domain == 32767:
            continue        # idle pCPUs are no vCPUs of ours
        who = (domain, vcpu)
        lengths = [e - s for s, e, state in spans[who] if state in names[m[1]]]
        mean = sum(lengths) // len(lengths) if lengths else 0
        compared += 1
        if len(lengths) != int(m[2]) or mean != int(m[4]):
            fail("%s %s: xenalyze %s intervals of %s cycles, its rules %d of %d" %
                 (who, m[1], m[2], m[4], len(lengths), mean))
    if compared < 8:
        fail("xenalyze: only %d numbers found" % compared)
    print("  %d numbers and means of xenalyze are those of its rules" % compared)


def compare_timelines(rows, hz, lines, end, spans, fail):
    same = {"running": RUN, "wake": ("waking",), "preempt": ("preempted",),
            "blocked": ("blocked",), "offline": ("offline",), "lost": ("unknown",)}
    base = rows[0].tsc
    reasons, agree = collections.Counter(), 0
    for vcpu, line in lines.items():
        theirs = [((s - base) * 10**9 // hz, (e - base) * 10**9 // hz, state)
                  for s, e, state in spans[vcpu]]
        begins = theirs[0][0] if theirs else end
        cuts = sorted({t for s, e, _ in theirs for t in (s, e)} |
                      {p[0] for p in line.points} | {end})
        mine = line.intervals(end)
        i = j = 0
        last = max([e for s, e, state in theirs if state != "lost"], default=0)
        for start, stop in zip(cuts, cuts[1:]):
            if start < rows[0].ns or start >= end:
                continue
            while i < len(mine) and mine[i][1] <= start:
                i += 1
            while j < len(theirs) and theirs[j][1] <= start:
                j += 1
            ours = mine[i][2]
            other = theirs[j][2] if j < len(theirs) and theirs[j][0] <= start else None
            if other and ours in same.get(other, ()):
                agree += stop - start
            elif other is None and ours == "unknown" and start < begins:
                agree += stop - start
            elif start < begins:
                reasons["beginning"] += stop - start
            elif start >= last:
                reasons["end"] += stop - start
            elif other == "lost":
                reasons["lost"] += stop - start
            else:
                fail("%s at %d ns: we say %s, xenalyze %s" % (vcpu, start, ours, other))
    print("  agreement for %d ns; difference %s" %
          (agree, ", ".join("%s %d ns" % r for r in sorted(reasons.items())) or "none"))


def main():
    rows = read_rows(sys.argv[2])
    report = json.load(open(sys.argv[3]))
    failures = []
    hz = report["clock"]["cpu_hz"]
    lines, end = timelines(rows, hz, first_turn(sys.argv[1]))
    check_report(report, lines, end, failures.append)
    spans = xenalyze_rules(rows)
    check_xenalyze(sys.argv[4], spans, failures.append)
    compare_timelines(rows, hz, lines, end, spans, failures.append)
    for failure in failures[:20]:
        print("  FAILED: " + failure)
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
