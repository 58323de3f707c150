#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the tests that check --max writes have the results of its CSV?

check_tests.py junit FILE TABLE.csv	also: does it follow the schema of Jenkins' xUnit plugin?
check_tests.py tap FILE TABLE.csv

Prints how many tests there are.
"""
import collections
import csv
import json
import re
import sys
import xml.etree.ElementTree as tree

# junit-10.xsd: of each element its attributes, those that it must have, and its children.
SCHEMA = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname",
                   "id", "package", "file", "log", "url"}, {"name", "tests", "failures", "errors"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}),
    "testcase": ({"name", "time", "classname", "group"}, {"name"},
                 {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": ({"type", "message"}, set(), set()),
    "error": ({"type", "message"}, set(), set()),
}


def fail(*words):
    sys.exit("check_tests.py: " + " ".join(map(str, words)))


def check_schema(element):
    allowed, needed, children = SCHEMA[element.tag]
    if set(element.attrib) - allowed or needed - set(element.attrib):
        fail("attributes of", element.tag, dict(element.attrib))
    for child in element:
        if child.tag not in children:
            fail(child.tag, "in", element.tag)
        check_schema(child)


def seconds(ns):
    return "%s%d.%09d" % ("-" if ns < 0 else "", abs(ns) // 10 ** 9, abs(ns) % 10 ** 9)


def window_of(row):
    """The window of a row, as tests name it; None: there is no list of windows."""
    return " ".join([seconds(int(row["from_ns"])), "..", seconds(int(row["to_ns"]))] +
                    ([row["window"]] if row["window"] else []))


def junit(path):
    """of, limit, result, sentence of each test; windows are in the names of suites."""
    root = tree.parse(path).getroot()
    if root.tag != "testsuites":
        fail("the root is", root.tag)
    check_schema(root)
    for suite in root:
        found = collections.Counter()
        for case in suite:
            problem = list(case)
            if len(problem) > 1:
                fail("several results of", case.attrib)
            tag = problem[0].tag if problem else ""
            found[tag] += 1
            result = {"": "within", "failure": "exceeded", "error": "unknown"}[tag]
            sentence = problem[0].get("message") if problem else ""
            if problem and (problem[0].get("type") != result or not problem[0].text.endswith(sentence)):
                fail("unclear:", tree.tostring(case))
            of = case.get("classname")
            if suite.get("name") != of and not suite.get("name").startswith(of + ", "):
                fail("the suite", suite.get("name"), "has a test of", of)
            yield suite.get("name")[len(of) + 2:], of, case.get("name"), result, sentence
        counts = [int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")]
        if counts != [len(suite), found["failure"], found["error"], 0]:
            fail("counts of", suite.get("name"), counts, found)


def tap(path):
    lines = open(path, encoding="utf-8").read().split("\n")
    if lines[0] != "TAP version 13" or lines[-1]:
        fail("version or end:", lines[0], lines[-1])
    plan = re.fullmatch(r"1\.\.(\d+)", lines[-2])
    at, number = 1, 0
    while at < len(lines) - 2:
        match = re.fullmatch(r"(not )?ok (\d+) - ((?:[^#\\]|\\.)*)", lines[at])
        number += 1
        if not match or int(match[2]) != number:
            fail("no test:", lines[at])
        at += 1
        facts = {}
        if lines[at] == "  ---":
            end = lines.index("  ...", at)
            for line in lines[at + 1:end]:
                key, _, value = line.strip().partition(": ")
                facts[key] = json.loads(value)
            at = end + 1
        result = facts.get("result", "within")
        if bool(match[1]) != (result != "within") or bool(match[1]) != bool(facts.get("message")):
            fail("unclear:", match[0], facts)
        text = match[3].replace("\\#", "#")
        yield text, result, facts.get("message", "")
    if not plan or int(plan[1]) != number:
        fail("the plan", lines[-2], "is not", number)


def check_sentence(row, sentence):
    """A sentence for each that does not pass, with the place of the costliest moment."""
    if row["result"] == "within":
        return not sentence
    if row["result"] == "unknown":
        return "unknown, as " in sentence
    place = not row["worst_time_ns"] or ("of %s, at %s s" % (
        row["worst_vcpu"], seconds(int(row["worst_time_ns"])))) in sentence
    return " is more than " in sentence and place


def main():
    kind, path, table = sys.argv[1:4]
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = list(junit(path) if kind == "junit" else tap(path))
    if len(found) != len(rows):
        fail(len(found), "tests,", len(rows), "rows")
    has_windows = len({(row["from_ns"], row["to_ns"]) for row in rows}) > 1
    for row, test in zip(rows, found):
        window = window_of(row) if has_windows else ""
        if kind == "junit":
            same = test[:2] == (window, row["of"]) and test[2].startswith(row["limit_of"] + "=") and \
                test[3] == row["result"]
        else:
            start = "%s%s %s=" % (window + ": " if window else "", row["of"], row["limit_of"])
            same = test[0].startswith(start) and test[1] == row["result"]
        if not same or not check_sentence(row, test[-1]):
            fail("differ:", test, row)
    print(len(found))


main()
