# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the table of vCPUs of a window with "report --format json" of its files.

samples.py COPY LENGTH WHOLE... -- REPORT...   COPY is the table as text, LENGTH that of the window in ns; each WHOLE is
the report of a file, each REPORT that of the window in a file with machines. Names are the same ones. Shares, of what
is known, differ by less than 3 %, or 0.05 % of the time; unknown numbers are unknown in both. The window is as long as
the first file; of several files, it may be longer by half of the longest host's, as guests may begin before their host
and end after it. A nested host is a guest: its own time, without its host, may be longer than both.
"""
import json
import re
import sys

RELATIVE, ABSOLUTE = 0.03, 0.05


def guests_of(paths):
    """Files of guests, nested hosts among them: their times are the host's in the window."""
    found = set()
    for path in paths:
        with open(path) as file:
            report = json.load(file)
        for one in report.get("reports", [report]):
            found.update(guest["file"] for guest in one.get("guests", []))
    return found


def wanted_rows(paths, guests=frozenset()):
    """(name, {state: share, None if unknown}) of all vCPUs, and names of machines; the longest window but of guests"""
    rows, machines, longest, files = [], [], 0, {}
    for path in paths:
        with open(path) as file:
            report = json.load(file)
        # a nested host has a report of its own beside that of its host
        for one in report.get("reports", [report]):
            files.setdefault(one["file"], one)
    for report in files.values():
        begin, end = report["window_ns"]
        if report["machines"] and report["file"] not in guests:
            longest = max(longest, end - begin)
        for machine in report["machines"]:
            machines.append(machine["machine"])
            for vcpu in machine["vcpus"]:
                shares = {name: None if state["total_ns"] is None else
                          100 * state["total_ns"] / vcpu["known_ns"] if vcpu["known_ns"] else 0
                          for name, state in vcpu["states"].items() if name not in ("lost", "unknown")}
                rows.append((vcpu["vcpu"], shares))
    return rows, machines, longest


def share_of(cell):
    """of a cell; None: unknown"""
    found = re.fullmatch(r"[\u2264\u2265]? ?(\d[\d.]*)", cell)
    if cell in ("", "-"):
        return None if cell else 0.0
    return float(found[1])


def last(name):
    """without the machines around a nested one, and without its file"""
    return re.sub(r"^.*/| \([^)]*\)$", "", name)


def main():
    copy, length, *paths = sys.argv[1:]
    whole, reports = paths[:paths.index("--")], paths[paths.index("--") + 1:]
    first, longest = wanted_rows(whole[:1])[2], wanted_rows(whole, guests_of(reports))[2]
    rows, machines, _ = wanted_rows(reports)
    bad = []
    with open(copy) as file:
        titles, *table = [line.rstrip("\n").split("\t") for line in file]
    states = {title[:-2].lower().replace(" ", "_"): i for i, title in enumerate(titles)
              if title.endswith(" %") and title != "Unknown %"}
    seen = [row for row in table]
    left = list(rows)
    for row in seen:
        name = last(row[0])
        candidates = [one for one in left if last(one[0]) == name]
        if not candidates:
            if name in map(last, machines):
                machines.remove(next(one for one in machines if last(one) == name))
            else:
                bad.append("the report has no '%s'" % row[0])
            continue
        # of those of one name, in several files, the one that fits best
        best = None
        for one in candidates:
            wrong = []
            for state, share in one[1].items():
                got = share_of(row[states[state]]) if state in states else 0.0
                if (got is None) != (share is None) or got is not None and \
                   abs(got - share) > max(ABSOLUTE, RELATIVE * share):
                    wrong.append("%s: %s is %s %%, in the report %s" % (row[0], state, got, share))
            if best is None or len(wrong) < len(best[1]):
                best = one, wrong
        left.remove(best[0])
        bad += best[1]
    bad += ["the window has no '%s'" % one[0] for one in left]
    bad += ["the window has no machine '%s'" % one for one in machines]
    most = 1.03 if len(whole) == 1 else 1.5
    if not 0.97 * first <= int(length) <= most * longest:
        bad.append("the window has %s ns, the reports %d and %d" % (length, first, longest))
    print("%d vCPUs, %d shares" % (len(rows), sum(len(one[1]) for one in rows)))
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad or not rows)


sys.exit(main())
