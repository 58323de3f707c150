# SPDX-License-Identifier: LGPL-2.1-or-later
"""xen_twin.py FROM.xen[.gz] TO.xen: every domain once more, doing the same on pCPUs of its own.

Domain 0 comes back as 1000, domain 1 as 1001, and so on; on as many further pCPUs, with an idle
vCPU for each. Records of the scheduler about itself are not repeated.
"""
import gzip
import struct
import sys

CPU_CHANGE = 0x1f003
IDLE = 0x7fff
TWIN = 1000
# words of a domain and a vCPU in one, and places of pairs of them
PACKED = range(0x21000, 0x22000)
PAIRS = {0x28004: (0,), 0x28006: (0,), 0x2800a: (0, 2), 0x2800e: (0,), 0x2800f: (0,), 0x28011: (0,)}


def records(data, at, end):
    while at < end:
        head, = struct.unpack_from("<I", data, at)
        extra = at + 4 + 8 * (head >> 31)
        after = extra + 4 * (head >> 28 & 7)
        yield head & 0xfffffff, at, extra, after
        at = after


def main():
    path = sys.argv[1]
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    chunks = []
    at = 0
    while at < len(data):
        event, _, extra, begin = next(records(data, at, len(data)))
        assert event == CPU_CHANGE
        cpu, size = struct.unpack_from("<II", data, extra)
        chunks.append((cpu, at, begin, begin + size))
        at = begin + size
    n_cpus = max(chunk[0] for chunk in chunks) + 1

    def twin(domain, vcpu):
        return (domain, vcpu + n_cpus) if domain == IDLE else (domain + TWIN, vcpu)

    with open(sys.argv[2], "wb") as out:
        for cpu, head, begin, end in chunks:
            out.write(data[head:end])
            again = bytearray()
            for event, start, extra, after in records(data, begin, end):
                record = bytearray(data[start:after])
                at = extra - start
                if event in PACKED:
                    word, = struct.unpack_from("<I", record, at)
                    domain, vcpu = twin(word >> 16, word & 0xffff)
                    struct.pack_into("<I", record, at, domain << 16 | vcpu)
                elif event in PAIRS:
                    for place in PAIRS[event]:
                        pair = struct.unpack_from("<II", record, at + 4 * place)
                        struct.pack_into("<II", record, at + 4 * place, *twin(*pair))
                elif event >> 16 == 2:
                    continue
                again += record
            change = bytearray(data[head:begin])
            struct.pack_into("<II", change, len(change) - 8, cpu + n_cpus, len(again))
            out.write(change + again)


main()
