#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ask the questions of perfetto.queries, of a decoder of our own or of Perfetto's.

perfetto_queries.py KSHARK_VIRT SAMPLES WORK [TRACE_PROCESSOR]

Prints how many answers are right. With KSV_UPDATE=1, the decoder writes its answers into the file.
"""
import csv
import io
import os
import subprocess
import sys

import perfetto_trace

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto.queries")


def read():
    """Each question: what stands before its answer, its arguments, its text, the answer."""
    with open(FILE) as file:
        for part in file.read().split("\n> ")[1:]:
            arguments, question, answer = part.split("\n", 2)
            lines = answer.rstrip("\n").split("\n")
            rows = [line for line in lines[1:] if line and not line.startswith("#")]
            yield arguments, question, rows


def update(answers):
    with open(FILE) as file:
        parts = file.read().split("\n> ")
    for at, rows in enumerate(answers, 1):
        arguments, question, rest = parts[at].split("\n", 2)
        notes = "".join("\n" + line + "\n" for line in rest.split("\n") if line.startswith("#"))
        parts[at] = "\n".join([arguments, question, "=", *rows]) + "\n" + notes.rstrip("\n")
    with open(FILE, "w") as file:
        file.write("\n> ".join(parts).rstrip("\n") + "\n")


def lines_of(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().splitlines()


def by_decoder(database, question):
    return lines_of(database.execute(question))


def by_processor(program, trace, question):
    module = os.path.join(os.environ["KSV_SOURCE_DIR"], "examples", "perfetto", "kshark_virt")
    done = subprocess.run([program, "--add-sql-package", module, "-Q",
                           "INCLUDE PERFETTO MODULE kshark_virt.vcpus; " + question, trace],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: %s" % (program, done.stderr))
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    return lines_of([["" if cell == "[NULL]" else cell for cell in row] for row in rows if row])


def main():
    command, samples, work = sys.argv[1:4]
    traces, right, answers = {}, 0, []
    for arguments, question, expected in read():
        if arguments not in traces:
            trace = os.path.join(work, "%d.pftrace" % len(traces))
            subprocess.run([command, "export", "-q", "-f", "perfetto", "-o", trace] +
                           [word if word.startswith("--") else os.path.join(samples, word)
                            for word in arguments.split()], check=True)
            traces[arguments] = trace if sys.argv[4:] else perfetto_trace.read(trace)
            if not sys.argv[4:]:
                perfetto_trace.load_module(traces[arguments])
        found = by_processor(sys.argv[4], traces[arguments], question) if sys.argv[4:] else \
            by_decoder(traces[arguments], question)
        answers.append(found)
        if found == expected:
            right += 1
        elif not os.environ.get("KSV_UPDATE"):
            print("%s: %s\n%s\ninstead of\n%s" % (arguments, question, "\n".join(found), "\n".join(expected)),
                  file=sys.stderr)
    if os.environ.get("KSV_UPDATE"):
        update(answers)
    print(right)
    return right < len(answers) and not os.environ.get("KSV_UPDATE")


sys.exit(main())
