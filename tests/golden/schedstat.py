#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Record this machine with perf while a process works, sleeps and makes system calls: FOLDER/now.data.

usage: schedstat.py FOLDER

Prints the process, the window, and how long it had a CPU and waited for one there, by its /proc/PID/schedstat.
"""
import os
import signal
import subprocess
import sys
import time


def schedstat():
    run, wait, _ = map(int, open("/proc/self/schedstat").read().split())
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC), run, wait


def work():
    """Until the process had a CPU for 0.3 s, and slept twenty times."""
    for _ in range(20):
        end = time.process_time_ns() + 15000000
        while time.process_time_ns() < end:
            sum(range(1000))
        time.sleep(0.002)


events = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task," \
         "raw_syscalls:sys_enter,raw_syscalls:sys_exit,kvm:kvm_entry,kvm:kvm_exit"
ready, begun = os.pipe()
perf = subprocess.Popen(["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", "2048", "-o",
                         sys.argv[1] + "/now.data", "-e", events, "--", "sh", "-c", "echo >&%d; exec sleep 600" % begun],
                        pass_fds=[begun], start_new_session=True, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
os.close(begun)
os.read(ready, 1)
before = schedstat()
work()
after = schedstat()
os.killpg(perf.pid, signal.SIGINT)
perf.wait()
print(os.getpid(), before[0], after[0], after[1] - before[1], after[2] - before[2])
