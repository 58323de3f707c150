#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compress an uncompressed trace.dat of version 7 with zlib, as trace-cmd writes such files.

trace_dat_zlib.py IN OUT [--options]: with --options, the sections of options are compressed as well,
which the format allows and trace-cmd does not do.
"""
import struct
import sys
import zlib

DONE, BUFFER, STRINGS, BUFFER_TEXT = 0, 3, 15, 22
REFERENCES = range(16, 22)		# options whose data are the offset of a section
PAGES_PER_CHUNK = 10


class Packer:
    def __init__(self, data, pack_options):
        self.data = data
        self.pack_options = pack_options
        assert data.startswith(b"\x17\x08\x44tracing7\0"), "not of version 7"
        self.order = ">" if data[12] else "<"
        self.page = self.number(14, 4)
        at = 18
        name = data[at:data.index(b"\0", at)]
        assert name == b"none", f"is compressed with {name.decode()} already"
        at = data.index(b"\0", at + len(name) + 1) + 1
        self.sections = at + 8
        self.options = self.number(at, 8)
        self.out = bytearray(data[:18] + b"zlib\0" + zlib.ZLIB_VERSION.encode() + b"\0")
        self.link = len(self.out)
        self.out += bytes(8)

    def number(self, at, size):
        return struct.unpack_from(self.order + {2: "H", 4: "I", 8: "Q"}[size], self.data, at)[0]

    def bytes_of(self, value, size):
        return struct.pack(self.order + {2: "H", 4: "I", 8: "Q"}[size], value)

    def packed(self, raw):
        small = zlib.compress(raw, 9)
        return self.bytes_of(len(small), 4) + self.bytes_of(len(raw), 4) + small

    def head(self, offset):
        return [self.number(offset + at, size) for at, size in ((0, 2), (2, 2), (4, 4), (8, 8))]

    def section(self, number, flags, text, body):
        place = len(self.out)
        self.out += self.bytes_of(number, 2) + self.bytes_of(flags, 2) + \
            self.bytes_of(text, 4) + self.bytes_of(len(body), 8) + body
        return place

    def copy(self, offset):
        number, flags, text, size = self.head(offset)
        assert not flags
        return self.section(number, 1, text, self.packed(self.data[offset + 16:offset + 16 + size]))

    def chunks(self, offset, size):
        step = PAGES_PER_CHUNK * self.page
        parts = [self.packed(self.data[at:min(at + step, offset + size)])
                 for at in range(offset, offset + size, step)]
        return self.bytes_of(len(parts), 4) + b"".join(parts)

    def buffer(self, option):
        number, flags, text, size = self.head(int.from_bytes(
            option[:8], "big" if self.order == ">" else "little"))
        place = self.section(number, 1, text, b"")
        option[:8] = self.bytes_of(place, 8)
        at = option.index(0, option.index(0, 8) + 1) + 1
        n, = struct.unpack_from(self.order + "I", option, at + 4)
        for at in range(at + 8, at + 8 + 20 * n, 20):
            offset, size = struct.unpack_from(self.order + "QQ", option, at + 4)
            self.out += bytes(-len(self.out) % self.page)
            body = self.chunks(offset, size)
            struct.pack_into(self.order + "QQ", option, at + 4, len(self.out), len(body) - 4)
            self.out += body
        self.out[place + 8:place + 16] = self.bytes_of(len(self.out) - place - 16, 8)

    def strings(self):
        at = self.sections
        while at + 16 <= len(self.data):
            number, _, _, size = self.head(at)
            if number == STRINGS:
                self.copy(at)
            at += 16 + size

    def options_section(self, offset):
        """Copy a section of options, and what they are about. Return: where the next one is."""
        _, _, text, size = self.head(offset)
        at, body, following = offset + 16, b"", 0
        while True:
            number, length = self.number(at, 2), self.number(at + 2, 4)
            data = bytearray(self.data[at + 6:at + 6 + length])
            at += 6 + length
            if number == DONE:
                following = int.from_bytes(data, "big" if self.order == ">" else "little")
                break
            if number == BUFFER:
                self.buffer(data)
            elif number in REFERENCES:
                data[:] = self.bytes_of(self.copy(self.number(at - length, 8)), 8)
            assert number != BUFFER_TEXT
            body += self.bytes_of(number, 2) + self.bytes_of(len(data), 4) + data
        body += self.bytes_of(DONE, 2) + self.bytes_of(8, 4)
        return following, text, body

    def run(self):
        self.strings()
        if self.pack_options:
            # where the next one is must be known before it is compressed: one section of all
            all_of, text, following = b"", 0, self.options
            while following:
                following, text, body = self.options_section(following)
                all_of += body[:-6]
            all_of += self.bytes_of(DONE, 2) + self.bytes_of(8, 4) + bytes(8)
            place = self.section(DONE, 1, text, self.packed(all_of))
            self.out[self.link:self.link + 8] = self.bytes_of(place, 8)
            return self.out
        following = self.options
        while following:
            following, text, body = self.options_section(following)
            place = self.section(DONE, 0, text, body + bytes(8))
            self.out[self.link:self.link + 8] = self.bytes_of(place, 8)
            self.link = len(self.out) - 8
        return self.out


def main():
    with open(sys.argv[1], "rb") as file:
        packer = Packer(file.read(), "--options" in sys.argv[3:])
    with open(sys.argv[2], "wb") as file:
        file.write(packer.run())


main()
