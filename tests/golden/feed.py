#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write a file in awkward pieces, as a pipe might give it.

feed.py FILE SEED MOST
"""
import os
import random
import sys


def main():
    data = open(sys.argv[1], "rb").read()
    rnd, most, at = random.Random(int(sys.argv[2])), int(sys.argv[3]), 0
    while at < len(data):
        n = rnd.choice((1, 3, 13, most // 7 + 1, most, rnd.randint(1, most)))
        at += os.write(1, data[at:at + n])


main()
