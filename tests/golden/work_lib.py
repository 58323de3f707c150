# SPDX-License-Identifier: LGPL-2.1-or-later
"""What oracles of "report --disks" and "report --locks" share.

usage: ORACLE laws PAGE.json PAGE.csv
       ORACLE text PAGE.json TEXT [FROM TO]	TEXT is what "trace-cmd report -R -t" prints; records of some CPU are
						missing between FROM and TO (ns)
       ORACLE sums PAGE.json PART.json...
"""
import csv
import json
import sys


def side(ns, gap):
    """0 before the gap, 1 in it, 2 after it."""
    return 0 if not gap or ns <= gap[0] else 1 if ns < gap[1] else 2


def check_csv(document, rows, sections, kind_of):
    """CSV has what JSON has. @kind_of: of a section and a row of JSON, the section in CSV. Return: rows."""
    at = 0
    for trace in document["traces"]:
        for section in sections:
            for one in trace[section]:
                row = rows[at]
                at += 1
                assert (row["section"], row["trace"]) == (kind_of(section, one), trace["trace"]), (row, one)
                for column in set(row) & set(one) - {"depth_mean"}:
                    assert row[column] == str("" if one[column] is None else one[column]), (column, row, one)
                for name in ("duration", "queue", "waited"):
                    if one.get(name):
                        assert row[name + "_count"] == str(one[name]["count"]), (name, row, one)
    assert at == len(rows), (at, len(rows))
    return at


def load(path):
    with open(path) as file:
        return json.load(file)


def main(check_laws, check_text, check_sums):
    """Each check prints how many it has checked."""
    document, files = load(sys.argv[2]), sys.argv[3:]
    if sys.argv[1] == "laws":
        with open(files[0]) as file:
            print(check_laws(document, list(csv.DictReader(file))))
    elif sys.argv[1] == "text":
        print(check_text(document, files[0], [int(ns) for ns in files[1:]]))
    else:
        print(check_sums(document, [load(path) for path in files]))
