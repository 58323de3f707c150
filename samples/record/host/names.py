#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""names.py TRACE: in records of an unpacked trace.dat or a perf.data, and in its list of threads, give tasks the name "task", but for
those of the recording itself and of the kernel's own threads."""
import collections
import re
import struct
import subprocess
import sys

KEPT = ("swapper/", "kworker/", "ksoftirqd/", "rcu_", "migration/", "jbd2/", "kswapd", "kcompactd", "khugepaged", "CPU ",
        "machine", "futexes", "dd", "sleep", "vmstat", "proc.py", "python3", "kshark-virt", "ksv-copy", "samples.sh", "loop",
        "writeback", "perf")

data = open(sys.argv[1], "rb").read()
command = ["perf", "script", "-F", "trace", "-i"] if data.startswith(b"PERFILE2") else ["trace-cmd", "report", "-R"]
text = subprocess.run(command + sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
pids = collections.defaultdict(set)
for name, pid in re.findall(r"(?:(?:prev|next)_)?comm=(.*?) (?:(?:prev|next)_)?pid=(\d+)", text):
    if not name.startswith(KEPT):
        pids[name].add(struct.pack("<i", int(pid)))
for name, after in pids.items():
    name = name.encode()
    # the field's end may still have that of another name; the pid follows
    data = re.sub(re.escape(name) + rb"\0(?s:.{%d})(?=%s)" % (15 - len(name), b"|".join(map(re.escape, after))),
                  b"task".ljust(16, b"\0"), data)
    # a text of another length: names that are long enough to be nothing else
    if len(name) > 4:
        data = re.sub(rb"(?<![!-~])" + re.escape(name) + rb"\0", b"task".ljust(len(name) + 1, b"\0"), data)
    # the list of threads' names, whose length stays
    data = re.sub(rb"(?m)^(\d+ )" + re.escape(name) + rb"$",
                  lambda match: match[1] + b"task"[:len(name)].ljust(len(name)), data)
open(sys.argv[1], "wb").write(data)
