#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""proc.py OUT SECONDS: write lines of /proc as the kernel prints them, five times a second, and what "vmstat 1" prints.

Each look begins with "= BEGIN END", each line of vmstat with "vmstat TIME": CLOCK_MONOTONIC in ns.
"""
import subprocess
import sys
import threading
import time

LINES = {
    "stat": ("cpu ", "ctxt ", "intr ", "processes ", "procs_running ", "procs_blocked "),
    "meminfo": ("MemTotal:", "MemFree:", "MemAvailable:", "Buffers:", "Cached:", "SwapTotal:", "SwapFree:"),
    "vmstat": ("pgpgin ", "pgpgout ", "pswpin ", "pswpout ", "pgfault ", "pgmajfault "),
    "pressure/cpu": ("some ",), "pressure/memory": ("some ", "full "), "pressure/io": ("some ", "full "),
}


def look():
    said = []
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for name, keys in LINES.items():
        for line in open("/proc/" + name):
            if line.startswith(keys):
                # of interrupts, the sum alone
                said.append("%s %s" % (name, " ".join(line.split()[:2]) if line.startswith("intr ") else line.strip()))
    return ["= %d %d" % (begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC))] + said


def listen(vmstat, said):
    for line in vmstat.stdout:
        said.append("vmstat %d %s" % (time.clock_gettime_ns(time.CLOCK_MONOTONIC), " ".join(line.split())))


def main():
    seconds, said, looks = int(sys.argv[2]), [], []
    vmstat = subprocess.Popen(["vmstat", "-n", "1", str(seconds)], stdout=subprocess.PIPE, text=True)
    thread = threading.Thread(target=listen, args=(vmstat, said))
    thread.start()
    while vmstat.poll() is None:
        looks += look()
        time.sleep(0.2)
    thread.join()
    with open(sys.argv[1], "w") as out:
        out.write("\n".join(looks + said) + "\n")


main()
