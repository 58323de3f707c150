#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Are the answers of a fleet in ClickHouse those of the rows that were loaded?

fleet_answers.py ROWS.tsv FOLDER AT

FOLDER has an answer per question, NAME.tsv, TabSeparated. Each is worked out here from the rows,
in the plainest way. Prints how many lines of answers were compared.
"""
import collections
import math
import os
import re
import sys

STATES = "guest hypervisor polling vmm preempted waking blocked device_model offline unknown".split()
COLUMNS = (["host", "trace_ns", "time", "time_ns", "length_ns", "machine_id", "machine", "vcpu"] +
           STATES + ["preemptions", "wakeups", "migrations", "reason", "exits", "complete",
                     "exit_ns", "by", "steal_ns", "wake_bucket", "wake_count", "steal_bucket",
                     "steal_count", "exit_bucket", "exit_length_count", "lost_pcpu", "lost_ns",
                     "lost_records"])
TEXTS = "host", "machine"


def value_of(column, text):
    if text == "\\N" and column not in TEXTS:
        return None
    if text.startswith("[") and column not in TEXTS:
        return [int(number) if number else re.sub(r"\\(.)", r"\1", name) for name, number in
                re.findall(r"'((?:[^'\\]|\\.)*)'|(-?\d+)", text[1:-1])]
    return re.sub(r"\\(.)", r"\1", text) if column in TEXTS else int(text)


def read_rows(path):
    """What was loaded twice is there once."""
    rows = {}
    for line in open(path, encoding="utf-8"):
        row = {column: value_of(column, text)
               for column, text in zip(COLUMNS, line.rstrip("\n").split("\t"))}
        rows[tuple(row[key] for key in ("host", "trace_ns", "time_ns", "machine_id", "vcpu"))] = row
    return [row for row in rows.values()]


def last_ns(bucket):
    after = bucket + 1
    return after - 1 if after < 8 else ((8 + after % 8) << (after // 8 - 1)) - 1


def percentile(counts, per_cent):
    rank, below = -(-sum(counts.values()) * per_cent // 100), 0
    for bucket in sorted(counts):
        below += counts[bucket]
        if below >= rank:
            return last_ns(bucket)


def group(rows, *keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups.items()


def total(rows, key):
    """What is unknown adds nothing."""
    return sum(sum(row[key]) if isinstance(row[key], list) else row[key] or 0 for row in rows)


def hosts(rows):
    return len({row["host"] for row in rows})


def lengths(rows, what):
    counts = collections.Counter()
    for row in rows:
        for bucket, count in zip(row[what + "_bucket"], row[what + "_count"]):
            counts[bucket] += count
    return counts


def best(answers, key):
    return sorted(answers, key=key)[:20]


def steal_p99(rows, _):
    answers = []
    for (machine,), own in group(rows, "machine"):
        counts = lengths(own, "steal")
        if counts:
            answers.append((machine, hosts(own), sum(counts.values()), total(own, "preempted"),
                            percentile(counts, 50), percentile(counts, 99)))
    return best(answers, lambda answer: (-answer[5], answer[0]))


def noisy_neighbours(rows, _):
    taken = collections.defaultdict(lambda: [set(), set(), 0])
    for row in rows:
        for by, ns in zip(row["by"], row["steal_ns"]):
            if by not in (row["machine"], "unknown"):
                taken[by][0].add(row["host"])
                taken[by][1].add(row["machine"])
                taken[by][2] += ns
    return best([(by, len(of[0]), len(of[1]), of[2]) for by, of in taken.items()],
                lambda answer: (-answer[3], answer[0]))


def waiting(rows, _):
    answers = []
    rows = [row for row in rows if None not in (row["preempted"], row["waking"])]
    for (machine,), own in group(rows, "machine"):
        known = total(own, "length_ns") - total(own, "unknown")
        wait = total(own, "preempted") + total(own, "waking")
        if known > 0:
            answers.append((machine, hosts(own), wait, known, wait / known))
    return best(answers, lambda answer: (-answer[4], answer[0]))


def exits_changed(rows, at):
    answers = []
    for (host,), own in group(rows, "host"):
        before = [row for row in own if row["time"] < at]
        after = [row for row in own if row["time"] >= at]
        exits = total(before, "exits"), total(after, "exits")
        ns = total(before, "length_ns"), total(after, "length_ns")
        if all(exits):
            answers.append((host,) + exits + ns + ((exits[1] / ns[1]) / (exits[0] / ns[0]),))
    return best(answers, lambda answer: (-abs(math.log(answer[5])), answer[0]))


def budget(rows, _):
    answers = []
    for key, own in group(rows, "host", "machine", "machine_id", "vcpu"):
        late = sum(None not in (row["preempted"], row["waking"]) and
                   (row["preempted"] + row["waking"]) * 20 > row["length_ns"] - row["unknown"]
                   for row in own)
        if late:
            answers.append(key + (late, sum(None not in (row["preempted"], row["waking"])
                                            for row in own)))
    return best(answers, lambda answer: (-answer[4],) + answer[:4])


def wake_p99(rows, _):
    answers = []
    for (host,), own in group(rows, "host"):
        counts = lengths(own, "wake")
        if counts:
            answers.append((host, sum(counts.values()), percentile(counts, 50),
                            percentile(counts, 99)))
    return best(answers, lambda answer: (-answer[3], answer[0]))


def exit_reasons(rows, _):
    reasons = collections.defaultdict(lambda: [set(), 0, 0, 0])
    for row in rows:
        for reason, n, complete, ns in zip(row["reason"], row["exits"], row["complete"],
                                           row["exit_ns"]):
            of = reasons[reason]
            of[0].add(row["host"])
            of[1] += n
            of[2] += complete
            of[3] += ns
    return best([(reason, len(of[0]), of[1], of[3], of[3] / of[2])
                 for reason, of in reasons.items() if of[2]],
                lambda answer: (-answer[3], answer[0]))


def migrations(rows, _):
    rows = [row for row in rows if row["migrations"] is not None]
    answers = [key + (total(own, "migrations"),
                      total(own, "migrations") / total(own, "length_ns") * 1e9)
               for key, own in group(rows, "host", "machine", "machine_id", "vcpu")
               if total(own, "migrations")]
    return best(answers, lambda answer: (-answer[4],) + answer[:4])


def losses(rows, _):
    answers = []
    for (host,), own in group(rows, "host"):
        records = sum(n for row in own for n in row["lost_records"] if n > 0)
        answer = host, total(own, "lost_ns"), records, total(own, "unknown")
        if any(answer[1:]):
            answers.append(answer)
    return best(answers, lambda answer: (-answer[1], -answer[3], answer[0]))


def worst_seconds(rows, _):
    worst = [row for row in rows if row["preempted"]]
    worst.sort(key=lambda row: (-row["preempted"], row["time_ns"], row["host"], row["machine"],
                                row["machine_id"], row["vcpu"]))
    return [(row["time"], row["host"], row["machine"], row["machine_id"], row["vcpu"],
             row["preempted"], row["by"][row["steal_ns"].index(max(row["steal_ns"]))],
             max(row["steal_ns"])) for row in worst[:20]]


QUESTIONS = {
    "01-steal-p99": steal_p99, "02-noisy-neighbours": noisy_neighbours, "03-waiting": waiting,
    "04-exits-changed": exits_changed, "05-budget": budget, "06-wake-p99": wake_p99,
    "07-exit-reasons": exit_reasons, "08-migrations": migrations, "09-losses": losses,
    "10-worst-seconds": worst_seconds,
}
HOSTS_OWN = {"09-losses"}


def seconds_of(text):
    """A DateTime in UTC, by the rule of the calendar alone."""
    import calendar
    import time
    return calendar.timegm(time.strptime(text, "%Y-%m-%d %H:%M:%S"))


def same(name, line, answer):
    found = line.rstrip("\n").split("\t")
    if len(found) != len(answer):
        sys.exit("%s: %d columns: %s" % (name, len(found), line))
    for text, right in zip(found, answer):
        if isinstance(right, float):
            good = math.isclose(float(text), right, rel_tol=1e-9)
        elif isinstance(right, int):
            good = (seconds_of(text) if ":" in text else int(text)) == right
        else:
            good = re.sub(r"\\(.)", r"\1", text) == right
        if not good:
            sys.exit("%s: %s, not %s: %s" % (name, text, right, line))


def main():
    rows, folder, at = read_rows(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    vcpus = [row for row in rows if row["vcpu"] >= 0]
    answered = {name[:-len(".tsv")] for name in os.listdir(folder) if name.endswith(".tsv")}
    if answered != set(QUESTIONS):
        sys.exit("questions without an answer here, or the other way round: %s" %
                 sorted(answered ^ set(QUESTIONS)))
    n = 0
    for name, question in sorted(QUESTIONS.items()):
        answers = question(rows if name in HOSTS_OWN else vcpus, at)
        lines = open(os.path.join(folder, name + ".tsv"), encoding="utf-8").readlines()
        if len(lines) != len(answers) or not answers:
            sys.exit("%s: %d lines, not %d" % (name, len(lines), len(answers)))
        for line, answer in zip(lines, answers):
            same(name, line, answer)
            n += 1
    print(n)


main()
