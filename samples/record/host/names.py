#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""names.py TRACE.dat: in records of an unpacked trace, give tasks the name "task", but for those of the recording itself
and of the kernel's own threads."""
import re
import subprocess
import sys

KEPT = ("swapper/", "kworker/", "ksoftirqd/", "rcu_", "migration/", "jbd2/", "kswapd", "kcompactd", "khugepaged", "CPU ",
        "machine", "dd", "sleep", "vmstat", "proc.py", "python3", "kshark-virt", "ksv-copy", "samples.sh", "loop", "writeback")

data = open(sys.argv[1], "rb").read()
text = subprocess.run(["trace-cmd", "report", "-R", sys.argv[1]], stdout=subprocess.PIPE, check=True).stdout.decode()
for name in set(re.findall(r"(?:prev|next)_comm=(.*?) (?:prev|next)_pid=", text)):
    if not name.startswith(KEPT):
        data = data.replace(name.encode().ljust(16, b"\0"), b"task".ljust(16, b"\0"))
open(sys.argv[1], "wb").write(data)
