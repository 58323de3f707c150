#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "perf record --threads" would have written in place of a perf.data file of a little-endian host: perf_folder.py FILE FOLDER

Each CPU's samples, and names of threads that it recorded, go to a file of their own, unpacked and without the ends of
rounds; other records stay. It needs the command zstd. Layout: Linux's
tools/perf/Documentation/perf.data-file-format.txt and perf.data-directory-format.txt.
"""
import os
import struct
import subprocess
import sys

COMM, FORK, SAMPLE, ROUND, COMPRESSED = 3, 7, 9, 68, 81
FOLDER = 24
# those before the CPU, each 8 bytes: identifier, ip, tid, time, addr, id, stream id
BEFORE_CPU = 1 << 16 | 1 | 2 | 4 | 8 | 1 << 6 | 1 << 9


def records(data):
    at = 0
    while at < len(data):
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield kind, data[at:at + length]
        at += length


def unpacked(data):
    """All records; a single stream goes through those that are compressed, and it has no end."""
    packed = b"".join(record[8:] for kind, record in records(data) if kind == COMPRESSED)
    yield from records(subprocess.run(["zstd", "-dc"], input=packed, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL).stdout if packed else b"")
    yield from (r for r in records(data) if r[0] != COMPRESSED)


def main():
    data = open(sys.argv[1], "rb").read()
    attrs_at, = struct.unpack_from("<Q", data, 24)
    at, size = struct.unpack_from("<QQ", data, 40)
    bits, = struct.unpack_from("<Q", data, 72)
    sample_type, = struct.unpack_from("<Q", data, attrs_at + 24)
    cpu_at = 8 + 8 * bin(sample_type & BEFORE_CPU).count("1")
    own, parts = b"", {}
    end = at + size
    for kind, record in unpacked(data[at:end]):
        tail_time, tail_cpu = struct.unpack_from("<QI", record, len(record) - 24) if kind in (COMM, FORK) else (0, 0)
        if kind == SAMPLE:
            cpu, = struct.unpack_from("<I", record, cpu_at)
            parts.setdefault(cpu, []).append(record)
        elif tail_time:
            parts.setdefault(tail_cpu, []).append(record)
        elif kind != ROUND:
            own += record
    features = [n for n in range(64) if bits >> n & 1]
    places = [struct.unpack_from("<QQ", data, end + 16 * i) for i in range(len(features))]
    contents = {n: data[offset:offset + length] for n, (offset, length) in zip(features, places)}
    contents[FOLDER] = struct.pack("<Q", 1)
    head = bytearray(data[:end - size])
    struct.pack_into("<Q", head, 48, len(own))
    struct.pack_into("<Q", head, 72, bits | 1 << FOLDER)
    table, place = b"", len(head) + len(own) + 16 * len(contents)
    for n in sorted(contents):
        table += struct.pack("<QQ", place, len(contents[n]))
        place += len(contents[n])
    os.mkdir(sys.argv[2])
    files = {"data": bytes(head) + own + table + b"".join(contents[n] for n in sorted(contents))}
    for i, cpu in enumerate(sorted(parts)):
        files["data.%d" % i] = b"".join(parts[cpu])
    for name, content in files.items():
        with open(os.path.join(sys.argv[2], name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
