# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that want to do harm: controls, no UTF-8, what formats take for their own."""

PIECES = (b"\x1b[31m", b"\x07", b"\r", b"\xc2\x9b2J", b"\xe2\x80\xae", b"\xff", b"\xef\xbf\xbe", b"=1+1",
          b"@SUM(A1)", b"\t", b"\"", b"<&>", b"'", b",", b"\\", b"\xf0\x9f\x98\x80", b"\xe2", b"\x01", b"%n",
          b"-1", b"+", b"]]>", b"\x7f", b"\xed\xa0\x80", b"a", b" ", b"\xe2\x80\xa8", b"\xcc\x81")


def bad_name(rng, size=0):
    name = b"".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 6)))
    return (name + b"x" * size)[:size] if size else name


def as_json(name):
    """As a string of JSON: bytes that are no UTF-8 stay as they are."""
    return b'"' + b"".join(b"\\u%04x" % byte if byte < 32 or byte in b'"\\' else bytes([byte])
                           for byte in name) + b'"'
