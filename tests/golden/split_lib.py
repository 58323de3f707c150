# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of split and merge share: reports are to be the same, byte for byte."""
import json
import os
import re
import subprocess
import sys

PAGES = ((), ("--worst", "1000"), ("--waits",), ("--power",), ("--migrations",), ("--tracing",))
BIN = os.environ["KSV_BIN"]


def run(*words):
    return subprocess.run([BIN, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def window(begin, end):
    return ["--from", "%dns" % begin, "--to", "%dns" % end]


def plain(report, path):
    """Without the file's name, and warnings about all of its records; events are missing in both."""
    report = re.sub(r'^ *\{"kind": "(?!events").*\n', "", report.replace(path, "FILE"), flags=re.M)
    report = re.sub(r",(\n \])", r"\1", report)
    return re.sub(r'^ "warnings": \[\n \],?\n', "", report, flags=re.M)


class Judge:
    """Counts what was compared, and says what differs."""
    def __init__(self):
        self.compared = self.differ = self.turn = 0

    def must(self, *words):
        """A command that has to succeed."""
        result = run(*words)
        if result.returncode:
            sys.exit("%s: %d: %s" % (" ".join(words), result.returncode, result.stderr))
        return result.stdout

    def same(self, whole, words, part, pages=PAGES, formats=("json",)):
        """Does a report of @part say what that of @whole with @words says?

        The plain page each time, the others in turn.
        """
        if pages is PAGES:
            self.turn += 1
            pages = PAGES[0], PAGES[1 + self.turn % (len(PAGES) - 1)]
        for page in pages:
            for form in formats:
                options = ["report", "-q", "--format", form, *(page or ["--full"])]
                a, b = run(*options, *words, whole), run(*options, part)
                self.compared += 1
                ours, theirs = plain(a.stdout, whole), plain(b.stdout, part)
                if a.returncode == b.returncode == 0 and ours == theirs:
                    continue
                self.differ += 1
                print("%s %s: %s and %s differ (%d, %d) %s" % (
                    " ".join(options), " ".join(words), whole, part, a.returncode, b.returncode,
                    b.stderr))
                for x, y in zip(ours.splitlines(), theirs.splitlines()):
                    if x != y:
                        print("< %s\n> %s" % (x, y))
                        break

    def finish(self, least):
        """How it went; nothing compared is nothing shown."""
        print("%d compared, %d differ" % (self.compared, self.differ))
        sys.exit(self.differ > 0 or self.compared < least)


def ends(path):
    """Where a trace begins and ends, and how many pCPUs it has."""
    report = json.loads(run("report", "-q", "--format", "json", path).stdout)
    return (*report["window_ns"], len(report["pcpus"]))


def rows(path):
    """All records, in order, as "dump" prints them: pairs of a time in ns and a line of CSV."""
    lines = run("dump", "-q", "--format", "csv", path).stdout.splitlines()
    column = lines[0].split(",").index("time_ns")
    return [(int(line.split(",")[column]), line) for line in lines[1:]]
