# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the comparisons with "xenalyze --dump-all" share: finding a record of ours in its output.

A record is found again by its pCPU and its time as xenalyze computes it: its clock factor is cut to
an integer, and time 0 is the loss if the trace begins with one. Records of one pCPU with the same
TSC (all that have none take the one before) share a key.
"""
import collections
import json
import re

# A mark, the time unless it is 0, a column for each pCPU, the vCPU (but for some events), the text.
# The indentation of sub-calls is part of the text.
LINE = re.compile(r"[] !](?: *(\d+)\.(\d{9})| {14}) ([-|.xlL ]+?)"
                  r"(?: d(\d+|\?)v(\d+|\?)|(?= inj_| pf_inject)) (.*)")

# It ends this, which is of no record, without a newline (Xen 4.20).
UNENDED = re.compile(r"d\d+v\d+ RUNSTATE_RUNNING detected, leaving INIT(?=[] !])")

Said = collections.namedtuple("Said", "key domid vcpu text line")


def ours(path, hz):
    """(pcpu, xenalyze's time in ns) -> objects of "dump --format json" in order"""
    factor = (hz << 10) // 10**9
    rows = collections.defaultdict(list)
    first = None
    with open(path) as lines:
        for row in map(json.loads, lines):
            if first is None:
                first = row["fields"].get("first_tsc", row["tsc"])
            rows[row["pcpu"], ((row["tsc"] - first) << 10) // factor].append(row)
    return rows


def theirs(path):
    """What it says about records, as Said; lines of other kinds come with key None."""
    with open(path, errors="replace") as lines:
        for line in lines:
            line = UNENDED.sub("", line.rstrip("\n"))
            m = LINE.fullmatch(line)
            if not m or m[3].count("x") != 1:
                yield Said(None, None, None, None, line)
                continue
            time = int(m[1]) * 10**9 + int(m[2]) if m[1] else 0
            # the place of the x is the pCPU's number
            yield Said((m[3].index("x"), time), m[4], m[5], m[6], line)
