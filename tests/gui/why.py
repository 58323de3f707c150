# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "kshark-virt why" prints, and what the dock lists of it.

why.py list TEXT < ITEMS          the items are the lines of the text, in their order
why.py segment|longest TEXT WORDS from and to, in ns, of the first, or the longest, with these words
"""
import re
import sys

LINE = re.compile(r" *(\d+\.\d{9}) +(\d+(?:\.\d+)? (?:ns|us|ms|s))  ( *)(.*?)(?:  ((?:\w*#\d+)(?: \w*#\d+)*))?$")
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def lines(path):
    """Time, length, words and records of each line of the tree."""
    with open(path) as file:
        text = file.read().split("\n")
    assert "what, and the records that show it" in text[1], text[1]
    assert "in all, " in text[-2] and " of it unexplained" in text[-2], text[-2]
    return [LINE.match(line).groups() for line in text[2:-2]]


def in_ns(length):
    number, unit = length.split(" ")
    whole, _, part = number.partition(".")
    return int(whole) * UNITS[unit] + (int(part) * UNITS[unit] // 10**len(part) if part else 0)


def listed(path):
    wanted = ["%s | %s | %s | %s" % (length, words, time, records or "")
              for time, length, _, words, records in lines(path)]
    items = [line.rstrip("\n").split("\t")[0] for line in sys.stdin]
    seen = [item for item in items if item.count(" | ") == 3]
    for one, other in zip(wanted, seen):
        if one != other:
            sys.exit("listed is '%s', printed '%s'" % (other, one))
    if len(wanted) != len(seen):
        sys.exit("%d are listed, %d printed" % (len(seen), len(wanted)))
    print("%d segments are listed as they are printed" % len(seen))


def segment(path, text, is_longest):
    found = [(int(time.replace(".", "")), in_ns(length))
             for time, length, _, words, _ in lines(path) if text in words]
    start, length = max(found, key=lambda one: one[1]) if is_longest else found[0]
    print(start, start + length)


def main():
    if sys.argv[1] == "list":
        listed(sys.argv[2])
    else:
        segment(sys.argv[2], sys.argv[3], sys.argv[1] == "longest")


main()
