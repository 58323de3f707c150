#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Are the rows of "report --files" those that the text of "trace-cmd report -R -t" has?

files_oracle.py TEXT FILES.json [FROM TO]: in a window of ns, calls that begin in it. Prints how many rows there are.
"""
import collections
import json
import re
import sys

# system calls of x86-64: the arguments that are descriptors, for reading and for writing
READS = {"read": 0, "pread64": 0, "readv": 0, "preadv": 0, "preadv2": 0, "recvfrom": 0, "recvmsg": 0,
         "sendfile64": 1, "splice": 0, "copy_file_range": 0}
WRITES = {"write": 0, "pwrite64": 0, "writev": 0, "pwritev": 0, "pwritev2": 0, "sendto": 0, "sendmsg": 0,
          "sendfile64": 0, "splice": 2, "copy_file_range": 2}
NUMBERS = {0: "read", 17: "pread64", 19: "readv", 295: "preadv", 327: "preadv2", 45: "recvfrom", 47: "recvmsg",
           1: "write", 18: "pwrite64", 20: "writev", 296: "pwritev", 328: "pwritev2", 44: "sendto", 46: "sendmsg",
           40: "sendfile64", 275: "splice", 326: "copy_file_range"}
# arguments of events of their own, by position
FIELDS = {"sendfile64": ["out_fd", "in_fd"], "splice": ["fd_in", "off_in", "fd_out"],
          "copy_file_range": ["fd_in", "off_in", "fd_out"]}


def calls(path):
    """Time, pid, name, whether it begins, arguments or the result."""
    for line in open(path, encoding="utf-8", errors="replace"):
        # later versions of trace-cmd add flags
        record = re.match(r"\s*(.*)-(\d+)\s+\[\d+\](?:-0x\w+)?\s+(\d+)\.(\d{9}): sys_(enter|exit)(?:_(\w+))?:\s+(.*)",
                          line)
        if not record:
            continue
        pid, time = int(record[2]), int(record[3]) * 10**9 + int(record[4])
        name, begins, text = record[6], record[5] == "enter", record[7]
        if name is None:
            number = re.search(r"\bid=(\d+)", text)
            name = NUMBERS.get(int(number[1]) if number else -1)
            if name is None:
                continue
        if not begins:
            value = int(re.search(r"\bret=(\S+)", text)[1], 0)
            yield time, pid, name, False, value - 2**64 if value >= 2**63 else value
        elif "args=" in text:
            data = bytes(int(byte, 16) for byte in re.findall(r"\b[0-9a-f]{2}\b", text.split("[", 1)[1]))
            yield time, pid, name, True, [int.from_bytes(data[i:i + 8], "little") for i in range(0, 48, 8)]
        else:
            fields = dict(re.findall(r"(\w+)=(\S+)", text))
            yield time, pid, name, True, [int(fields.get(field, "0"), 0) for field in FIELDS.get(name, ["fd"])]


def main():
    begin, end = (int(word) for word in sys.argv[3:5]) if len(sys.argv) > 3 else (0, 2**63)
    want, open_calls = collections.defaultdict(lambda: [0, 0, 0, 0]), {}
    for time, pid, name, begins, value in calls(sys.argv[1]):
        if begins:
            open_calls[pid, name] = time, []
            for operation, table in (("read", READS), ("write", WRITES)):
                file = value[table[name]] & 0xffffffff if name in table else 2**32
                if file < 2**31 and begin <= time < end:
                    want[pid, file, operation][0] += 1
                    open_calls[pid, name][1].append((pid, file, operation))
        elif (pid, name) in open_calls:
            since, keys = open_calls.pop((pid, name))
            for key in keys:
                want[key][1] += value < 0
                want[key][2] += max(value, 0)
                want[key][3] += time - since
    trace, = json.load(open(sys.argv[2], encoding="utf-8"))["traces"]
    got = {(row["pid"], row["file"], row["operation"]): [row["calls"], row["failed"], row["bytes"],
                                                         row["duration"]["total_ns"]] for row in trace["files"]}
    assert got == dict(want), [(key, got.get(key), want.get(key)) for key in got.keys() | want.keys()
                               if got.get(key) != want.get(key)][:5]
    for operation in ("read", "write"):
        sums = [sum(row[n] for key, row in want.items() if key[2] == operation) for n in range(3)]
        rows = [[row["calls"], row["failed"], row["bytes"]] for row in trace["machines"] if row["operation"] == operation]
        assert [sum(row[n] for row in rows) for n in range(3)] == sums, (rows, sums)
    assert trace["calls"] == sum(row[0] for row in want.values()), trace["calls"]
    print(len(want))


main()
