# SPDX-License-Identifier: LGPL-2.1-or-later
"""merge_pieces.py FOLDER SEED TRACE...: parts of a trace, put together, show what the whole one shows.

Of windows, of physical CPUs, of both; in any order; and what is cut out of that again.
"""
import os
import random
import sys

import split_lib
from split_lib import run, window

folder, seed = sys.argv[1], int(sys.argv[2])
judge = split_lib.Judge()
rng = random.Random(seed)
refused = 0


def split(path, name, *words):
    """Cut a part out. Return: its path; None if there is nothing to cut out."""
    part = os.path.join(folder, name)
    result = run("split", "-q", *words, "-o", part, path)
    if result.returncode == 3 and ("there is no record" in result.stderr or
                                   "jumps back" in result.stderr):
        return None
    if result.returncode:
        sys.exit("split %s %s: %s" % (" ".join(words), path, result.stderr))
    return part


def merge(parts, name):
    global refused
    merged = os.path.join(folder, name)
    if None in parts:
        refused += 1
        return None
    rng.shuffle(parts)
    judge.must("merge", "-q", "-o", merged, *parts)
    return merged


def check(path, words, merged):
    if not merged:
        return
    judge.same(path, words, merged)
    judge.compared += 1
    begin, end = (int(words[1][:-2]), int(words[3][:-2])) if words else (-1 << 62, 1 << 62)
    if [r for t, r in split_lib.rows(path) if begin <= t < end] != \
            [r for _, r in split_lib.rows(merged)]:
        judge.differ += 1
        print("%s %s: records differ" % (path, " ".join(words)))


for path in sys.argv[3:]:
    begin, end, n_pcpus = split_lib.ends(path)
    if end - begin < 10:
        continue
    edges = [begin, *sorted(rng.sample(range(begin + 1, end), 3)), end]
    pieces = [split(path, "w%d.xen" % i, *window(edges[i], edges[i + 1])) for i in range(4)]
    check(path, [], merge(pieces[:], "windows.xen"))
    some = window(edges[1], edges[3])
    again = merge(pieces[1:3], "some.xen")
    check(path, some, again)
    if again:
        inner = window(edges[1], edges[2])
        check(path, inner, split(again, "again.xen", *inner))
    for words in ([], some):
        check(path, words, merge([split(path, "p%d.xen" % i, *words, "--pcpu", str(i))
                                  for i in range(min(n_pcpus, 40))], "pcpus.xen"))
    if n_pcpus == 4:
        check(path, some, merge([
            split(path, "b%d%d.xen" % (i, k), *window(edges[i], edges[i + 1]), "--pcpu", pcpus)
            for i in (1, 2) for k, pcpus in enumerate(("0,3", "1-2"))], "both.xen"))
print("%d merges had too little" % refused)
judge.finish(20)
