# SPDX-License-Identifier: LGPL-2.1-or-later
"""tables.py CSV ITEMS: the rows of a table as report prints them are those that the window lists.

ITEMS has a line for each item of the list: its cells, with " | " between them. Numbers in ns are shown as durations with
four or more digits, unknown ones as "-".
"""

import csv
import sys

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}


def is_number(text):
    try:
        float(text)
    except ValueError:
        return text == ""
    return True


def is_shown(key, cell, numbers, shown):
    if not numbers:
        return shown.strip() == cell
    if not cell or not key.endswith("_ns"):
        return shown == (cell or "-")
    number, unit = shown.split()
    return abs(float(number) * UNITS[unit] - float(cell)) <= float(cell) / 1000


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        titles, *rows = csv.reader(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        items = [line.split("\t")[0].rstrip("\n") for line in file]
    section = titles.index("section")
    columns = []
    for i, title in enumerate(titles):
        values = {row[i] for row in rows}
        if i != section and values and not (len(values) == 1 and (values == {""} or title in ("file", "trace"))):
            columns.append((i, title, all(map(is_number, values))))
    sections = {row[section]: None for row in rows}
    assert len(items) == len(rows) + len(sections), (len(items), len(rows), sections)
    wanted = [row for one in sections for row in [one] + [row for row in rows if row[section] == one]]
    for row, item in zip(wanted, items):
        if isinstance(row, str):
            assert item.split(" | ")[0].strip() == row.replace("_", " "), (row, item)
            continue
        cells = [cell.strip() for cell in item.split(" | ")]
        assert len(cells) == len(columns), (cells, columns)
        for (i, key, numbers), shown in zip(columns, cells):
            assert is_shown(key, row[i], numbers, shown), (key, row[i], shown)
    assert len(rows) > 3, rows


main()
