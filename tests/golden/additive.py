#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the numbers of windows that lie side by side add up to those of the whole?

additive.py SEED ROUNDS PAGES TRACE...

TRACE is a file or folder, or a host with its guests or with a monitor's log: HOST,GUEST... or
HOST,--monitor,LOG. Each round cuts each trace at times of its own records and beside them, and compares on PAGES
pages, drawn at random, every integer of the parts with that of the whole. Integers are sums but for those
that are named below. No share of any page is above 100 %.
"""
import collections
import csv
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

BIN = os.environ["KSV_BIN"]

# What names a row: rows with the same names are the same one, whatever their order.
NAMES = {
    "id", "name", "vcpu", "machine", "reason", "who", "cause", "vector", "class", "pcpu", "kind",
    "thread", "pid", "tid", "distance", "task", "from", "to", "from_pcpu", "to_pcpu", "by", "nr", "event", "device",
    "pointer", "operation", "file", "guest_cpu", "cpu", "irq", "kvm_exit", "section", "machine_id",
    "vcpu_id", "dialect", "argument", "call", "culprit", "culprit_pid", "cgroup", "trace", "disk", "lock",
    "by_pid",
}
# What is no sum, each with the reason.
NO_SUMS = {
    "min_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns",	# one length of all
    "mean_ns", "multiplication", "min_khz", "mean_khz", "max_khz",	# made of sums
    "records_per_s", "bytes_per_s", "share_percent", "time_percent", "drift_ppm",
    "explained_percent",	# rates and shares
    "before", "before_ns", "exit_before",	# goes on when the window begins; the longest of several
    "n_vcpus", "cpu_khz", "cpu_hz", "residual_ppm", "offset_ns", "interval_ns", "poll_ns",
    "version", "window_ns", "first_ns",	# of the trace or the window
    "judged", "events", "beyond", "troubles",	# of the whole trace: how it was aligned, what is outside
	# of it, reports of a guest that cannot be
    "depth_mean", "depth_max",	# requests at once
    "waiters",	# some tasks wait in several windows
    "buffers", "switch_off",	# the fullest buffer; advice
}


def run(*words):
    return subprocess.run([BIN, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def name_of(row):
    return tuple((key, str(row[key])) for key in sorted(row)
                 if key in NAMES and isinstance(row[key], (str, int)))


def flatten(value, path, sums):
    """All integers that are sums, by the names on the way to them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in NO_SUMS and not (key in NAMES and isinstance(inner, (str, int))):
                flatten(inner, path + (key,), sums)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                flatten(inner, path + (name_of(inner),), sums)
    elif isinstance(value, int) and not isinstance(value, bool) and value:
        sums[path] += value
    return sums


def of_report(*page):
    def numbers(words):
        result = run("report", "-q", "-f", "json", *page, *words)
        return None if result.returncode else flatten(json.loads(result.stdout), (),
                                                      collections.Counter())
    return numbers


def of_top(words):
    result = run("top", "-q", "-f", "json", "--interval", "9999", *words)
    if result.returncode:
        return None
    facts = [fact for interval in json.loads(result.stdout)["intervals"]
             for fact in interval["facts"]]
    return flatten({"facts": facts}, (), collections.Counter())


# Of rows of export: what names them, and what is no sum. Of "interval" and "guest_task", which are
# cut to the window, the time is.
ROWS = {
    "interval": (("vcpu", "state"), ("pcpu", "who")),
    "exit": (("vcpu", "reason", "pcpu"), ("entry_ns",)), "migration": (("vcpu",), ()),
    "wake": (("vcpu", "cause", "waker"), ()), "loss": (("pcpu",), ()),
    "moment": (("vcpu", "kind"), ("rank",)), "guest_task": (("vcpu", "pid", "name"), ()),
    "disk_request": (("disk", "operation", "machine", "pid", "task"), ("end_ns", "issue_ns", "sector", "depth")),
    "lock_wait": (("lock", "kind", "machine", "pid", "task"), ("begin_ns", "end_ns")),
}


def of_export(words):
    sums = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        if run("export", "-q", "-f", "csv-tables", "--worst", "1000000", "-o", folder + "/x",
               *words).returncode:
            return None
        for table, (names, others) in ROWS.items():
            with open("%s/x/%s.csv" % (folder, table), newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    name = (table,) + tuple(row[key] for key in names)
                    if table in ("interval", "guest_task"):
                        sums[name, "ns"] += int(row.pop("end_ns")) - int(row.pop("start_ns"))
                    else:
                        sums[name, "rows"] += 1
                    for key, value in row.items():
                        if key not in names + others and re.fullmatch(r"-?\d+", value):
                            sums[name, key] += int(value)
    return sums


PAGES = {
    "report": of_report(), "--worst": of_report("--worst", "1000000"), "top": of_top,
    "export": of_export,
}
PAGES.update((page, of_report(page)) for page in (
    "--exits", "--waits", "--threads", "--tasks", "--events", "--disks", "--locks", "--handlers", "--power", "--migrations", "--tracing",
    "--hypertrace"))
PAGES["--function"] = of_report("--function", "*")
OF_MONITORS = {"--devices": of_report("--devices")}


def window_of(begin, end):
    return ["--from", "%dns" % begin, "--to", "%dns" % end]


def times_of(words, begin, end):
    """Of all that the trace shows."""
    times = set()
    with tempfile.TemporaryDirectory() as folder:
        run("export", "-q", "-f", "csv-tables", "--worst", "0", "-o", folder + "/x",
            *(words[:1] if "--monitor" in words else words))
        for path in glob.glob(folder + "/x/*.csv"):
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    times.update(int(value) for key, value in row.items()
                                 if key.endswith("_ns") and value)
    return sorted(time for time in times if begin < time < end)


class Judge:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.compared = self.differ = 0

    def differs(self, *words):
        self.differ += 1
        print(*words)

    def shares(self, trace, page, words):
        """A change, +5 %, is no share."""
        text = run("report", "-q", *page, *words).stdout
        for line in text.splitlines():
            for share in re.findall(r"(?<![-+.\d])(\d+(?:\.\d+)?) %", line):
                self.compared += 1
                if float(share) > 100.005:
                    self.differs("%s: %s:" % (trace, page), line)

    def cuts(self, times, begin, end):
        cuts = {self.rng.choice(times) + self.rng.choice((0, 0, 0, 1, -1))
                for _ in range(self.rng.randint(1, 3))}
        if self.rng.random() < 0.3:
            cuts.add(self.rng.randrange(begin, end))
        return [begin, *sorted(cut for cut in cuts if begin < cut < end), end]

    def page(self, trace, page, numbers, whole, words, cuts):
        parts = collections.Counter()
        for begin, end in zip(cuts, cuts[1:]):
            part = numbers([*window_of(begin, end), *words])
            if part is None:
                self.differs("%s: %s: not from %d to %d" % (trace, page, begin, end))
                return
            parts.update(part)
        for key in sorted(set(parts) | set(whole), key=repr):
            self.compared += 1
            if parts[key] != whole[key]:
                self.differs("%s: %s: %s: %d of the parts, %d of the whole; cut at %s" % (
                    trace, page, key, parts[key], whole[key], cuts[1:-1]))

    def trace(self, trace, rounds, n_pages):
        words = trace.split(",")
        pages = OF_MONITORS if "--monitor" in words else PAGES
        first = ["--devices"] if "--monitor" in words else []
        result = run("report", "-q", "-f", "json", *first, *words)
        if result.returncode:
            sys.exit("%s: %d: %s" % (trace, result.returncode, result.stderr))
        begin, end = json.loads(result.stdout)["window_ns"]
        times = times_of(words, begin, end)
        whole = {}
        for page in pages:
            self.shares(trace, [page] if page.startswith("--") and page not in (
                "--worst", "--function") else [], words)
        for _ in range(rounds):
            cuts = self.cuts(times, begin, end)
            for page in self.rng.sample(sorted(pages), min(n_pages, len(pages))):
                if page not in whole:
                    whole[page] = pages[page]([*window_of(begin, end), *words])
                # not every trace has every page
                if whole[page] is not None:
                    self.page(trace, page, pages[page], whole[page], words, cuts)


def main():
    judge = Judge(int(sys.argv[1]))
    for trace in sys.argv[4:]:
        judge.trace(trace, int(sys.argv[2]), int(sys.argv[3]))
    print("%d numbers compared, %d differ" % (judge.compared, judge.differ))
    sys.exit(judge.differ > 0)


main()
