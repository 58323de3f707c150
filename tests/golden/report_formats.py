#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check that one report says the same as text, CSV and JSON.

Usage: report_formats.py REPORT.txt REPORT.csv REPORT.json

Each number of the JSON, as far as it is one of time and counts of machines, vCPUs and pCPUs, must
be in the row of the CSV that stands for it, and in the row of the text as the text writes it. No
row of the text's and of the CSV's tables may be left over.
"""
import csv
import json
import re
import sys

from durations import duration

errors = 0
compared = 0
NUMBERS = ("mean_ns", "min_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")


def expect(what, got, wanted):
    global errors, compared
    compared += 1
    if got != wanted:
        errors += 1
        print("  %s: %r instead of %r" % (what, got, wanted))


def share(part, whole):
    return "%.2f %%" % (100 * part / whole) if whole else ""


# --- text: (who, table, name) -> cells by column -------------------------------------------------

HEADS = {"all together": "machine_state", "state": "state", "VM exits": "exit",
         "of which": "part", "pCPU": "pcpu"}


def read_text(path):
    """Cells lie under the ends of their columns' names."""
    rows, who, table, columns = {}, None, None, []
    for line in open(path):
        line = line.rstrip("\n")
        head = re.match(r"  ([A-Za-z]+( [A-Za-z]+)*)  ", line)
        if line and not line.startswith(" "):
            who, table = line.split(":")[0].split("  ")[0], None
        elif head and head[1] in HEADS:
            table = HEADS[head[1]]
            columns = [(m[0], m.end()) for m in
                       re.finditer(r"\S+( %| model| tasks| cost\))?", line) if m.start() > 20]
        elif line.strip() in ("preempted by", "ran on"):
            table, columns = line.strip(), [("time", 34), ("share", 44)]
        elif line.startswith("  migrations "):
            rows[who, "migrations", ""] = {"count": line[13:].strip()}
            table = None
        elif not line.strip() or line.startswith("    "):
            table = None
        elif table:
            cells, start = {}, 22
            name = line[2:22].rstrip()
            if len(line) > 22 and line[22] != " ":
                # a name that is too long moves the rest
                name, start = re.match(r"  (.*?)(?=\s\s|\s+\d)", line)[1], None
            if start:
                for column, end in columns:
                    cells[column] = line[start:end].strip()
                    start = end
                rows[who if table != "pcpu" else "", table, name] = cells
    return rows


# --- comparing -----------------------------------------------------------------------------------

class Formats:
    def __init__(self, text, rows):
        self.text, self.csv = text, rows
        self.used_text, self.used_csv = set(), set()

    def row(self, *key):
        self.used_csv.add(key)
        return self.csv.get(key)

    def cells(self, *key):
        self.used_text.add(key)
        return self.text.get(key)

    def dist(self, what, dist, row, cells):
        for name in NUMBERS:
            expect("%s %s in CSV" % (what, name), row[name], str(dist.get(name, "")))
            if cells is not None:
                expect("%s %s in text" % (what, name), cells[name[:-len("_ns")]],
                       duration(dist[name]) if name in dist else "")

    def stretches(self, key, text_key, dist, whole):
        """@whole: the time to which shares refer"""
        row, cells = self.row(*key), self.cells(*text_key) if text_key else None
        what = " ".join(map(str, key))
        expect(what + " in CSV", row is not None, True)
        expect(what + " in text", cells is not None,
               bool(text_key and (dist["count"] or dist.get("before"))))
        if not row:
            return
        for name in ("total_ns", "count", "complete"):
            expect("%s %s in CSV" % (what, name), row[name], str(dist[name]))
        expect(what + " before in CSV", row["before"], str(dist.get("before", 0)))
        expect(what + " before_ns in CSV", row["before_ns"], str(dist.get("before_ns", "")))
        self.dist(what, dist, row, cells)
        if cells is None:
            return
        expect(what + " time", cells["time"], duration(dist["total_ns"]))
        expect(what + " share", cells["share"], share(dist["total_ns"], whole))
        expect(what + " count", cells["count"], str(dist["count"]))
        cut = dist["count"] - dist["complete"]
        expect(what + " cut", cells["cut"], str(cut) if cut else "")
        before = duration(dist["before_ns"]) if "before_ns" in dist else "?"
        expect(what + " before", cells["before"], before if "before" in dist else "")

    def exits(self, who, machine, vcpu, exits, kvm):
        for exit in exits:
            reason = exit["reason"]
            what = "%s %s" % (who, reason)
            expect(what + " in CSV", self.row("exits", machine, vcpu, reason)["count"],
                   str(exit["count"]))
            row = self.row("exit_cost", machine, vcpu, reason)
            cells = self.cells(who, "exit", reason)
            for name, wanted in (("count", exit["complete"]), ("total_ns", exit["total_ns"])):
                expect("%s %s in CSV" % (what, name), row[name], str(wanted))
            expect(what + " time", cells["time"], duration(exit["total_ns"]))
            expect(what + " count", cells["samples" if kvm else "count"], str(exit["count"]))
            for name in NUMBERS:
                expect("%s %s in CSV" % (what, name), row[name], str(exit.get(name, "")))
                if not kvm or name != "p5_ns":
                    expect("%s %s in text" % (what, name), cells[name[:-len("_ns")]],
                           duration(exit[name]) if name in exit else "")
            self.parts(what, who, machine, vcpu, exit, kvm)

    def parts(self, what, who, machine, vcpu, exit, kvm):
        ns, cells = exit["states_ns"], self.cells(who, "part", exit["reason"])
        unasked, monitor = exit.get("unasked_ns", 0), exit.get("unasked_vmm_ns", 0)
        printed = dict(ns, unasked=unasked, unasked_vmm=monitor)
        for name, wanted in printed.items():
            row = self.row("exit_" + name, machine, vcpu, exit["reason"])
            expect("%s %s in CSV" % (what, name), row["total_ns"] if row else "0", str(wanted))
        vmm = ns.get("vmm", 0) + monitor
        free = sum(ns.get(state, 0) for state in ("polling", "blocked", "device_model", "offline")) - unasked
        wait = unasked - monitor
        columns = {"handling": ns.get("hypervisor", 0), "preempted": ns.get("preempted", 0),
                   "waking": ns.get("waking", 0), "(no cost)": free}
        columns.update({"vmm": vmm, "asleep": wait} if kvm else {"device model": wait})
        expect(what + " costs", exit["total_ns"], sum(columns.values()) - free + (0 if kvm else vmm))
        for name, wanted in columns.items():
            expect("%s %s in text" % (what, name), cells[name], duration(wanted))


def check_vcpu(formats, machine, vcpu, kvm):
    who = vcpu["vcpu"]
    # the share of unknown is one of all time
    everything = sum(dist["total_ns"] for dist in vcpu["states"].values())
    for state, dist in vcpu["states"].items():
        formats.stretches(("state", machine, who, state), (who, "state", state), dist,
                          everything if state == "unknown" else vcpu["known_ns"])
    for name in ("runs", "runnable"):
        formats.stretches((name, machine, who, ""), (who, "state", "(%s)" % name), vcpu[name],
                          vcpu["known_ns"])
    expect(who + " wake_latency", vcpu["wake_latency"], vcpu["states"]["waking"])
    for pcpu, ns in vcpu["pcpus_ns"].items():
        expect("%s on p%s" % (who, pcpu), formats.row("on_pcpu", machine, who, pcpu)["total_ns"],
               str(ns))
        cells = formats.cells(who, "ran on", "p" + pcpu)
        expect("%s on p%s" % (who, pcpu), (cells["time"], cells["share"]),
               (duration(ns), share(ns, vcpu["runs"]["total_ns"])))
    for culprit in vcpu["culprits"]:
        name, ns = culprit["who"], culprit["total_ns"]
        expect("%s by %s" % (who, name), formats.row("culprit", machine, who, name)["total_ns"],
               str(ns))
        cells = formats.cells(who, "preempted by", name)
        if cells:
            expect("%s by %s" % (who, name), cells["time"], duration(ns))
    expect(who + " migrations", formats.row("migrations", machine, who, "")["count"],
           str(vcpu["migrations"]))
    expect(who + " migrations", formats.cells(who, "migrations", "")["count"],
           str(vcpu["migrations"]))
    cost = vcpu["migration_cost"]
    row = formats.row("migration_cost", machine, who, "")
    cells = formats.cells(who, "state", "(migrations)")
    for name, wanted in (("count", cost["count"]), ("total_ns", cost["total_ns"])):
        expect("%s migration %s in CSV" % (who, name), row[name], str(wanted))
    formats.dist(who + " migration", cost, row, cells)
    expect(who + " migrations in text", cells is not None, vcpu["migrations"] > 0)
    if cells:
        expect(who + " cost of migrations", (cells["time"], cells["count"]),
               (duration(cost["total_ns"]), str(vcpu["migrations"])))
    formats.exits(who, machine, who, vcpu["exits"], kvm)
    before = vcpu.get("exit_before")
    if before:
        expect(who + " exit before", formats.row("exit_before", machine, who,
                                                 before["reason"])["total_ns"], str(before["before_ns"]))
        expect(who + " exit before in text", "  when the window begins, %s has gone on for %s\n" %
               (before["reason"], duration(before["before_ns"])) in open(sys.argv[1]).read(), True)


def check_steal(formats, report):
    """No time preempted is lost, or counted twice: by victim, by culprit, in any sum."""
    steal, columns, text = report["steal"], {}, open(sys.argv[1]).read()
    machines = {v["vcpu"]: m["machine"] for m in report["machines"] for v in m["vcpus"]}
    printed = {m["machine"]: m for m in steal["machines"]}
    for machine in report["machines"]:
        name, culprits = machine["machine"], {}
        wanted = sum(v["states"]["preempted"]["total_ns"] for v in machine["vcpus"])
        row = printed.pop(name, {"total_ns": 0, "by": []})
        by = {b["who"]: b["total_ns"] for b in row["by"]}
        for culprit in (c for v in machine["vcpus"] for c in v["culprits"]):
            # one that was not asked for
            other = re.fullmatch(r"(d\d+)v\d+", culprit["who"])
            who = machines.get(culprit["who"], other[1] if other else culprit["who"])
            culprits[who] = culprits.get(who, 0) + culprit["total_ns"]
            columns[who] = columns.get(who, 0) + culprit["total_ns"]
        expect("steal of " + name, (row["total_ns"], sum(by.values())), (wanted, wanted))
        expect("who steals from " + name, by, {who: ns for who, ns in culprits.items() if ns})
        check_stolen(formats, name, row["total_ns"], by)
        expect("steal of %s in text" % name, bool(re.search(
            "\n  preempted, by .*(\n  .*)*\n  %s +%s" % (name, duration(row["total_ns"])), text)),
            row["total_ns"] > 0)
    by = {b["who"]: b["total_ns"] for b in steal["by"]}
    expect("who steals", by, {who: ns for who, ns in columns.items() if ns})
    expect("steal", steal["total_ns"], sum(columns.values()))
    check_stolen(formats, "", steal["total_ns"], by)
    expect("others who were stolen from", printed, {})


def check_stolen(formats, machine, ns, by):
    for who, part in list(by.items()) + ([("", ns)] if ns or not machine else []):
        row = formats.row("steal", machine, "", who)
        expect("steal of %s by %s in CSV" % (machine, who), row and row["total_ns"], str(part))


def check_pcpu(formats, pcpu, kvm):
    name = "p%d" % pcpu["pcpu"]
    cells = formats.cells("", "pcpu", name)
    for key in ("busy", "guest", "hypervisor", "polling", "vmm", "idle", "unknown", "lost"):
        expect("%s %s in CSV" % (name, key), formats.row("pcpu", "", name, key)["total_ns"],
               str(pcpu[key + "_ns"]))
        if key == "polling" and key not in cells:
            expect(name + " has no column for polling", pcpu["polling_ns"], 0)
        elif key != ("busy" if kvm else "vmm"):
            expect("%s %s in text" % (name, key), cells[key], duration(pcpu[key + "_ns"]))
    if kvm:
        expect(name + " tasks in CSV", formats.row("pcpu", "", name, "tasks")["total_ns"],
               str(pcpu["task_ns"]))
        expect(name + " tasks in text", cells["other tasks"], duration(pcpu["task_ns"]))


def main():
    report = json.load(open(sys.argv[3]))
    kvm = report["hypervisor"] == "kvm"
    rows = {(r["section"], r["machine"], r["vcpu"], r["name"]): r
            for r in csv.DictReader(open(sys.argv[2], newline=""))}
    formats = Formats(read_text(sys.argv[1]), rows)
    for machine in report["machines"]:
        name = machine["machine"]
        # the share of lost time is one of all time
        everything = sum(dist["total_ns"] for dist in machine["states"].values())
        for state, dist in machine["states"].items():
            expect("%s %s" % (name, state), machine["states_ns"][state], dist["total_ns"])
            formats.stretches(("machine_state", name, "", state), (name, "machine_state", state),
                              dist, everything if state == "lost" else machine["known_ns"])
        if kvm:
            formats.exits(name, name, "", machine["exits"], kvm)
        for vcpu in machine["vcpus"]:
            check_vcpu(formats, name, vcpu, kvm)
    for pcpu in report["pcpus"]:
        check_pcpu(formats, pcpu, kvm)
    check_steal(formats, report)
    sections = {key[0] for key in formats.used_csv}
    for key in rows:
        if key[0] in sections and key[3] not in ("interrupts", "lost_records"):
            expect("%s is in the CSV alone" % (key,), key in formats.used_csv, True)
    for key in formats.text:
        expect("%s is in the text alone" % (key,), key in formats.used_text, True)
    print("  %d numbers compared, %d differ" % (compared, errors))
    return errors > 0 or compared < 100


sys.exit(main())
