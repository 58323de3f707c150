# SPDX-License-Identifier: LGPL-2.1-or-later
"""The records that "trace-cmd report -t" prints, with -R or without."""
import re

# the flags, as "d.h1.", are there since trace-cmd 3.3
LINE = re.compile(r"^.*?-(\d+)\s+\[(\d+)\]\s*(?:[^\s\d]\S{3,5}\s+)?(\d+)\.(\d{9}):\s+([\w-]+):\s*(.*)$")


def records(path):
    """(ns, thread, CPU, event, text after its name) of each record."""
    with open(path, errors="replace") as lines:
        for line in lines:
            found = LINE.match(line)
            if found:
                yield (int(found[3]) * 10**9 + int(found[4]), int(found[1]), int(found[2]), found[5], found[6])
