# SPDX-License-Identifier: LGPL-2.1-or-later
"""split_windows.py FOLDER SEED N TRACE...: a part shows what the whole trace shows of its window.

Windows at records and between them, at the ends, of one record, of everything: some of them for each
trace; and N at random.
"""
import os
import random
import sys

import split_lib
from split_lib import run, window

folder, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
judge = split_lib.Judge()
rng = random.Random(seed)
refused = 0


def windows(path, times):
    begin, end, _ = split_lib.ends(path)
    some = times[len(times) // 2]
    large = ((begin, end), (some, times[len(times) * 3 // 4]), (begin, begin + (end - begin) // 3),
             (begin + 2 * (end - begin) // 3, end))
    small = ((begin, begin + 1), (end - 1, end), (some, some + 1),
             (some + 1, times[len(times) * 3 // 4] + 1))
    yield from rng.sample(large, 4 if n else 2)
    yield from rng.sample(small, 2 if n else 0)
    for _ in range(n):
        first = rng.randrange(begin, end)
        yield first, min(end, first + 1 + int((end - begin) * rng.random() ** 3))


def same_records(whole, rows, begin, end, part):
    """The same records with the same times and vCPUs, which no model is needed for."""
    judge.compared += 1
    if [row for time, row in rows if begin <= time < end] != [row for _, row in split_lib.rows(part)]:
        judge.differ += 1
        print("%s from %d to %d: records differ" % (whole, begin, end))


for path in sys.argv[4:]:
    rows = split_lib.rows(path)
    for begin, end in windows(path, [time for time, _ in rows]):
        if begin >= end:
            continue
        part = os.path.join(folder, "part.xen")
        words = window(begin, end)
        result = run("split", "-q", *words, "-o", part, path)
        if result.returncode == 3 and "there is no record between" in result.stderr:
            refused += 1
            continue
        # two recordings in one file: the window has both
        if result.returncode == 3 and "jumps back" in result.stderr:
            refused += 1
            continue
        if result.returncode:
            sys.exit("split %s %s: %d: %s" % (" ".join(words), path, result.returncode,
                                              result.stderr))
        same_records(path, rows, begin, end, part)
        judge.same(path, words, part, split_lib.PAGES if n else split_lib.PAGES[:2])
print("%d windows refused" % refused)
judge.finish(20)
