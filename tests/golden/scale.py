#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Time and memory in proportion to the file: scale.py COMMAND FOLDER N [FAMILY...|many]

Runs the subcommands on each family of scale_files.py and judges what they took: at most 2 us of CPU
time per byte and 1 s, on a machine as fast as the one where that was set; at most 64 bytes of
memory per record and 256 MB. Of what takes long, half as many records must take more than a third.
On a machine that is slow, or slow at the moment, a run has as much more time as fixed work takes
there, and another try.

With "many", only what MANY has, of which N is large.

KSV_SCALE=show: every run is shown; KSV_SCALE=run: nothing is judged but how each run ends.
"""
import os
import resource
import subprocess
import sys
import time

import scale_files

US_PER_BYTE, S = 2, 1
BYTES_PER_RECORD, MB = 64, 256
GROWTH, GROWTH_S = 3, 0.5
ATTEMPTS = 3
TOO_LONG_S, TOO_MUCH = 20, 4 << 30

XEN = (
    "dump -qf csv --correct-skew", "dump -qf json --vcpu d1,d2v3",
    "report -q", "report -qf json --from 0.0001", "report -qf csv --worst 100000",
    "report -qf html", "report -qf json --tracing --record-cost 100", "plot -qf csv", "plot -qf svg --by pcpu",
    "check -q --affinity d1=0-3", "check -q --affinity-file LIST",
    "compare -q {} a={}",
)
KVM = tuple(command for command in XEN if command.split()[0] not in ("dump", "check"))
ALIGN = ("align -q {} {}", "align -qf json --source causality {} {}")
TABLE = ("compare -qf csv --values {}", "compare -q --joint --statistic mean --values {}")
PAIR = KVM + ALIGN + ("report -q {} {}",)

# what takes most memory of all, if there is very much of it
MANY = {
    "xen_vcpus": ("report -q", "report -qf csv", "report -qf json", "report -qf html",
                  "plot -qf csv", "check -q --affinity d1=0-3",
                  "check -q --affinity-file LIST", "dump -qf csv"),
    "xen_domains": ("report -qf json",),
    "xen_pcpus": ("report -qf json", "report -qf html"),
    "kvm_tids_reasons": ("report -qf json",),
    "kvm_tasks": ("report -qf json",),
}

MODE = os.environ.get("KSV_SCALE", "")

BUSY_S = 0.12	# what busy() takes on the machine where the limits were set


def busy():
    """Work that is always the same."""
    begin = time.process_time()
    n = 0
    for i in range(1000000):
        n = (n * 31 + i) & 0xffff
    return time.process_time() - begin


def slowness():
    """How much slower than that this machine is at this moment."""
    return max(1.0, busy() / BUSY_S)


def bound():
    """What has gone wrong must not take the machine with it."""
    if MODE == "run":
        return
    resource.setrlimit(resource.RLIMIT_CPU, (TOO_LONG_S, TOO_LONG_S))
    resource.setrlimit(resource.RLIMIT_AS, (TOO_MUCH, TOO_MUCH))


class Run:
    """One run of the command: CPU seconds and memory of it and its children, exit status."""

    def __init__(self, command, arguments):
        child = subprocess.Popen([command] + arguments, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 preexec_fn=bound)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.bytes = usage.ru_maxrss * 1024


def list_of(path):
    """The list of affinities that goes with a xentrace file."""
    return path + ".affinities"


def arguments(line, files):
    words = line.split()
    if "{}" not in line:
        words.append("{}")
    left = list(files)
    last = left[0]
    out = []
    for word in words:
        if word == "LIST":
            word = list_of(files[0])
        if "{}" in word:
            last = left.pop(0) if left else last
            word = word.replace("{}", last)
        out.append(word)
    return out


class Files:
    """A family's files of N records."""

    def __init__(self, folder, family, n):
        self.paths = [os.path.join(folder, "%s-%d" % (family, n))]
        parts = [[]]
        if family == "kvm_delivery":
            parts.append(["1"])
            self.paths.append(self.paths[0] + "-guest")
        self.records = self.bytes = 0
        for path, part in zip(self.paths, parts):
            made = subprocess.run([sys.executable, scale_files.__file__, family, str(n), path] +
                                  part, check=True, stdout=subprocess.PIPE)
            self.records += int(made.stdout)
            self.bytes += os.path.getsize(path)
        self.extra = []
        if family.startswith("xen"):
            self.extra.append(list_of(self.paths[0]))
            with open(self.extra[0], "w", encoding="ascii") as out:
                out.write(scale_files.affinities(n))

    def remove(self):
        for path in self.paths + self.extra:
            os.unlink(path)


def judge(command, line, files, half):
    """What is wrong, or an empty text; and the run."""
    times = sum(1 for word in line.split() if "{}" in word) or 1
    room = BYTES_PER_RECORD * files.records * times + (MB << 20)
    limit = US_PER_BYTE * files.bytes * times / 1e6 + S
    for _ in range(ATTEMPTS):
        run = Run(command, arguments(line, files.paths))
        if not 0 <= run.status <= 4:
            return "ended with %d" % run.status, run
        if MODE == "run":
            return "", run
        if run.bytes > room:
            return "%.0f MB instead of %.0f" % (run.bytes / 1048576, room / 1048576), run
        if run.cpu_s > limit and run.cpu_s > limit * slowness():
            wrong = "%.2f s instead of %.2f" % (run.cpu_s, limit)
            continue
        if run.cpu_s < GROWTH_S or not half:
            return "", run
        before = Run(command, arguments(line, half().paths))
        if run.cpu_s < GROWTH * before.cpu_s:
            return "", run
        wrong = "%.2f s, %.2f s for half of it" % (run.cpu_s, before.cpu_s)
    return wrong, run


def main():
    command, folder, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    many = sys.argv[4:] == ["many"]
    chosen = MANY if many else sys.argv[4:] or scale_files.FAMILIES
    show = MODE == "show"
    failed = 0
    for family in chosen:
        files = Files(folder, family, n)
        halves = []

        def half():
            if not halves:
                halves.append(Files(folder, family, n // 2))
            return halves[0]

        lines = MANY[family] if many else PAIR if len(files.paths) > 1 else \
            KVM if family.startswith("kvm") else TABLE if family.startswith("table") else XEN
        for line in lines:
            wrong, run = judge(command, line, files, None if many else half)
            if show or wrong:
                print("%-18s %-50s %6.2f s %5.0f MB %2d %s" %
                      (family, line, run.cpu_s, run.bytes / 1048576, run.status, wrong), flush=True)
            failed += bool(wrong)
        for made in [files] + halves:
            made.remove()
    sys.exit(failed > 0)


main()
