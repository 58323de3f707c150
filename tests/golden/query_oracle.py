#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does query answer what Python's SQLite answers from the database that export writes?

query_oracle.py examples EXAMPLES.sql N	statement N of query --examples; prints it
query_oracle.py answer DATABASE SQL CSV JSON	the answers of query; prints how many rows there are
query_oracle.py docs EXAMPLES.sql DOCUMENT	does the document have these questions, and no others?
query_oracle.py report REPORT.json CSV	are the sums of the first example those of report?
"""
import csv
import json
import re
import sqlite3
import sys


def fail(*words):
    sys.exit("query_oracle.py: " + " ".join(map(str, words)))


def examples(path):
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"-- (.*)\n((?:.+\n)+?)(?=\n|\Z)", file.read())
    return [(question, sql.rstrip().rstrip(";")) for question, sql in found]


def value(text):
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def same(found, wanted):
    """SQLite writes 15 digits."""
    if isinstance(wanted, float):
        return abs(found - wanted) <= 1e-14 * abs(wanted)
    return found == ("" if wanted is None else wanted)


def answer(database, sql, table, document):
    cursor = sqlite3.connect(database).execute(sql)
    titles = [column[0] for column in cursor.description]
    wanted = [list(row) for row in cursor]
    with open(table, newline="", encoding="utf-8") as file:
        found = list(csv.reader(file))
    with open(document, encoding="utf-8") as file:
        document = json.load(file)
    if found[0] != titles or document["columns"] != titles:
        fail("titles", found[0], document["columns"], titles)
    rows = [list(row.values()) for row in document["rows"]]
    if rows != wanted:
        fail("JSON", rows[:3], "instead of", wanted[:3])
    if len(found) - 1 != len(wanted) or not all(same(value(text), cell) for row in zip(found[1:], wanted)
                                               for text, cell in zip(*row)):
        fail("CSV", found[1:4], "instead of", wanted[:3])
    print(len(wanted))


def docs(path, document):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"\n## \d+\. (.*)\n(?:.*\n)*?\n((?:    .*\n)+)", text)
    wanted = examples(path)
    found = [(question, re.sub("^    ", "", sql, flags=re.M).rstrip()) for question, sql in found]
    if found != wanted or len(found) != 11:
        fail("differ:", [pair for pair in zip(found, wanted) if pair[0] != pair[1]] or len(found))


def report(path, table):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    with open(table, newline="", encoding="utf-8") as file:
        found = {(row["name"], row["state"]): int(row["ns"]) for row in csv.DictReader(file)}
    compared = 0
    for machine in document["machines"]:
        for vcpu in machine["vcpus"]:
            for state, stretches in vcpu["states"].items():
                if state in ("guest", "blocked", "offline") or not stretches or not stretches["total_ns"]:
                    continue
                compared += 1
                if found.get((vcpu["vcpu"], state)) != stretches["total_ns"]:
                    fail(vcpu["vcpu"], state, found.get((vcpu["vcpu"], state)), stretches["total_ns"])
    print(compared)


if sys.argv[1] == "examples":
    print(examples(sys.argv[2])[int(sys.argv[3])][1])
else:
    {"answer": answer, "docs": docs, "report": report}[sys.argv[1]](*sys.argv[2:])
