# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists of what is accepted, with the reason: a line that names it, and lines with a tab that say why."""


def read(path):
    """Return: what is accepted, and why; the order is that of the file"""
    reasons, key = {}, None
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("\t") and key:
                reasons[key] = (reasons[key] + " " + line.strip()).strip()
            elif line.strip() and not line.startswith("#"):
                key = line.strip()
                if key in reasons:
                    raise SystemExit("%s:%d: again: %s" % (path, number, key))
                reasons[key] = ""
    for key, reason in reasons.items():
        if not reason:
            raise SystemExit("%s: no reason for: %s" % (path, key))
    return reasons
