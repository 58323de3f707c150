# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small xentrace file of many vCPUs and a long time: long_and_wide.py VCPUS FILE [PCPU]

Each vCPU has some records, on one pCPU, all of them together 999,000 s with a TSC of 1 GHz.
"""
import sys

import scale_files

n, path = int(sys.argv[1]), sys.argv[2]
records = max(n, 20) * 2
trace = scale_files.Xen(step=999000 * 10 ** 9 // records)
trace.at(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
for i in range(records // 2):
    trace.add(scale_files.change(scale_files.BLOCKED, scale_files.RUNNING), 1 << 16 | i % n)
    trace.add(scale_files.change(scale_files.RUNNING, scale_files.BLOCKED), 1 << 16 | i % n)
with open(path, "wb") as file:
    file.write(trace.data())
