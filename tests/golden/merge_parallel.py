#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A trace.dat as if only some of its CPUs or buffers had been recorded: merge_parallel.py FILE OUT CPUS [BUFFER]

FILE is of version 7, not compressed (trace-cmd convert --file-version 7 --compression none). CPUS are separated by commas;
of all others, and of all buffers but BUFFER, no record is left. Layout: trace-cmd.dat.v7(5).
"""
import struct
import sys


def main():
    path, out, cpus, *buffers = sys.argv[1:]
    wanted = {int(cpu) for cpu in cpus.split(",")}
    data = bytearray(open(path, "rb").read())
    assert data[10:12] == b"7\0" and data[18:24] == b"none\0\0", "another version, or compressed"
    section, = struct.unpack_from("<Q", data, 24)
    at = section + 16
    while True:
        option, size = struct.unpack_from("<HI", data, at)
        at += 6
        if option == 0:
            section, = struct.unpack_from("<Q", data, at)
            if not section:
                break
            at, size = section + 16, 0
        if option == 3:
            name = data[at + 8:data.index(0, at + 8)].decode()
            place = data.index(0, data.index(0, at + 8) + 1) + 5
            n, = struct.unpack_from("<I", data, place)
            for entry in range(place + 4, place + 4 + 20 * n, 20):
                cpu, = struct.unpack_from("<I", data, entry)
                if cpu not in wanted or (buffers and name != buffers[0]):
                    struct.pack_into("<Q", data, entry + 12, 0)
        at += size
    with open(out, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
