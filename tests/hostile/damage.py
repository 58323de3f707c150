# SPDX-License-Identifier: LGPL-2.1-or-later
"""Damage files: bits, fields, lengths, blocks. What is random comes from the caller's generator."""
import struct

WINDOW = b"\x03\xf0\x01\x20"
LIES = (0, 1, 2, 0x7f, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff)


def flip(rng, data, at):
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        where = rng.randrange(at, min(len(data), at + 4096))
        data[where] ^= 1 << rng.randrange(8)


def lie(rng, data, at):
    """A number that claims something else."""
    size = rng.choice((1, 2, 4, 4, 8))
    value = rng.choice((rng.choice(LIES), rng.randrange(1 << 8 * size)))
    value = (value & ((1 << 8 * size) - 1)).to_bytes(size, rng.choice(("little", "big")))
    data[at:at + size] = value


def cut(rng, data, at):
    del data[at:]


def lose(rng, data, at):
    del data[at:at + rng.choice((1, 3, 4, 16, 100, 4096))]


def insert(rng, data, at):
    data[at:at] = rng.choice((b"\0", b"\xff" * 4, rng.randbytes(37), bytes(4096), WINDOW * 20))


def overwrite(rng, data, at):
    size = rng.choice((4, 16, 100, 1000, 5000))
    data[at:at + size] = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))


def repeat(rng, data, at):
    size = rng.choice((16, 500, 4096))
    data[at:at] = data[at:at + size] * rng.choice((1, 2, 9))


def swap(rng, data, at):
    """The block that begins there, and one behind it, change places."""
    size = rng.choice((12, 300, 4096))
    other = rng.randrange(at, len(data) + 1)
    if other >= at + size:
        one, two = data[at:at + size], data[other:other + size]
        data[other:other + size] = one
        data[at:at + size] = two


def append(rng, data):
    data += data[:rng.randrange(len(data) + 1)]


KINDS = (flip, lie, cut, lose, insert, overwrite, repeat, swap)


def places(data, marks):
    """Where something important is: marks, or any 32-bit boundary."""
    return [at for at in marks if at < len(data)] or [0]


def damage(rng, data, marks=(), first=0):
    """Damage a copy. Return: it, the first place that is not as it was, and what was done."""
    data = bytearray(data)
    begin, done = len(data), []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if len(data) <= first + 8:
            break
        at = rng.randrange(first, len(data) - 8)
        if marks and rng.random() < 0.6:
            at = rng.choice(places(data, marks)) + rng.choice((0, 4, 8))
            at = max(first, min(at, len(data) - 8))
        kind = rng.choice(KINDS)
        kind(rng, data, at)
        begin = min(begin, at)
        done.append("%s at %d" % (kind.__name__, at))
    if rng.random() < 0.1:
        append(rng, data)
        done.append("append")
    return bytes(data), begin, ", ".join(done)


def windows(data):
    """Offsets of the windows of a xentrace file."""
    at, offsets = 0, []
    while at + 12 <= len(data) and data[at:at + 4] == WINDOW:
        offsets.append(at)
        at += 12 + struct.unpack_from("<I", data, at + 8)[0]
    return offsets, min(at, len(data))


def sections(data):
    """Offsets of interest of a trace.dat file: what looks like the head of a section or options."""
    if data[10:12] != b"7\0":
        return [data.find(word) for word in (b"header_page", b"header_event", b"options  ",
                                             b"flyrecord") if data.find(word) >= 0]
    link = data.index(b"\0", data.index(b"\0", 18) + 1) + 1
    found, at = [10, 12, 13, 14, 18, link], struct.unpack_from("<Q", data, link)[0]
    while at and at + 16 < len(data):
        found.append(at)
        at += 16
        while at + 6 <= len(data):
            found.append(at)
            number, size = struct.unpack_from("<HI", data, at)
            if number == 0:
                at = struct.unpack_from("<Q", data, at + 6)[0] if at + 14 <= len(data) else 0
                break
            if 16 <= number <= 21 or number == 3:
                found.append(struct.unpack_from("<Q", data, at + 6)[0])
            at += 6 + size
    return found
