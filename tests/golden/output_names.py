# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names in JSON and CSV follow the rules of docs/output.md, which has the columns of each page.

    output_names.py OUTPUT.md columns PAGE REPORT.csv
    output_names.py OUTPUT.md names REPORT.json...

PAGE is an option of report, or "all sections". Prints how many names were looked at.
"""
import json
import re
import sys

# Names of durations that do not say so.
NO_TIME = {"ns", "min", "mean", "p5", "p50", "p95", "p99", "max", "total", "wake_ns"}


def rows_of(page):
    """Of all tables: what is in the first column, and the names of the second one."""
    for first, second in re.findall(r"^\| (.+?) \| `(.+?)` \|$", page, re.M):
        yield first.strip("`"), second.split()


class Names:
    def __init__(self, page):
        self.rows = dict(rows_of(page))
        self.durations, self.stretches = self.rows["durations"], self.rows["stretches"]
        self.seen = self.distributions = 0

    def columns(self, page):
        kinds = {"durations": self.durations, "stretches": self.stretches,
                 "complete": self.stretches[:-2]}
        for word in self.rows[page]:
            name, _, kind = word.partition(":")
            yield from ((name and name + "_") + one for one in kinds[kind]) if kind else [name]

    def distribution(self, path, value):
        """Its members come first, in the order of the page."""
        order = [name for name in value if name in self.stretches]
        assert order == [name for name in self.stretches if name in order], (path, order)
        wanted = self.stretches if "complete" in value else self.durations
        lengths = value["complete"] if "complete" in value else value["count"]
        lacking = [name for name in wanted if name not in value and not name.startswith("before")]
        assert not lacking or not lengths, (path, lacking)
        self.distributions += 1

    def named(self, path, value):
        """A vCPU, a machine and a pCPU have the names that they always have."""
        for list_name, name in (("vcpus", "vcpu"), ("machines", "machine"), ("pcpus", "pcpu")):
            # a guest's task may have been on a pCPU that is unknown
            if path[-1:] == (list_name,) and "guests" not in path:
                assert name in value, (path, list(value))

    def members(self, path, value):
        if "mean_ns" in value and "p5_ns" in value:
            self.distribution(path, value)
        for key, inner in value.items():
            self.seen += 1
            assert key not in NO_TIME, (path, key)
            if key in ("vcpu", "machine"):
                assert isinstance(inner, str), (path, key, inner)
            if key.endswith("_ns"):
                numbers = inner if isinstance(inner, list) else [inner]
                if isinstance(inner, dict):
                    numbers = [number for name, number in inner.items() if not name.endswith("_includes")]
                assert all(number is None or isinstance(number, int) for number in numbers), \
                    (path, key, inner)
            else:
                self.look(path + (key,), inner)

    def look(self, path, value):
        if isinstance(value, dict):
            self.members(path, value)
        elif isinstance(value, list):
            for inner in value:
                if isinstance(inner, dict):
                    self.named(path, inner)
                self.look(path, inner)


def main(page, what, *rest):
    names = Names(open(page, encoding="utf-8").read())
    if what == "columns":
        titles = open(rest[1], encoding="utf-8").readline().rstrip("\n").split(",")
        assert titles == list(names.columns(rest[0])), (titles, list(names.columns(rest[0])))
        print(len(titles))
        return
    for path in rest:
        names.look((), json.load(open(path, encoding="utf-8")))
    print(names.seen, names.distributions)


main(*sys.argv[1:])
