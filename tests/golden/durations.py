# SPDX-License-Identifier: LGPL-2.1-or-later
"""Durations as text has them."""


def duration(ns):
    for unit, name in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns >= unit:
            value = ns / unit
            return "%.*f %s" % (3 if value < 10 else 2 if value < 100 else 1, value, name)
    return "%d ns" % ns
