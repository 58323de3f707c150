# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare states.N and exits.N, of report --full and --exits as JSON: equal numbers, and nearly equal times."""
import json
import sys

# ns between the first recorder's look at the clock and the last one's, for each edge of a state: on the average, and
# now and then, as an interrupt comes between
APART, INTERRUPTED = 12000, 500000

failed = 0


def compare(what, values):
    """Each recorder has (number, ns). Return: the number."""
    global failed
    numbers = [n for n, _ in values]
    times = [ns for _, ns in values]
    if len(set(numbers)) != 1 or None in numbers or max(times) - min(times) > 2 * APART * numbers[0] + INTERRUPTED:
        print(what, values)
        failed += 1
    return numbers[0] or 0


def states(document):
    found = {}
    for machine in document["machines"]:
        for vcpu in machine["vcpus"]:
            for name, state in vcpu["states"].items():
                if name != "polling":
                    found[vcpu["vcpu"], name] = state["count"], state["total_ns"]
    return found


def exits(document):
    return {(vcpu["vcpu"], reason["reason"]): (reason["count"], reason["cost"]["total_ns"])
            for vcpu in document["vcpus"] for reason in vcpu["exits"]}


for kind, take, enough in (("states", states, 8000), ("exits", exits, 3000)):
    all_of = [take(json.load(open("%s.%d" % (kind, i)))) for i in (1, 2, 3)]
    if not all_of[0] or any(set(one) != set(all_of[0]) for one in all_of):
        print(kind, [sorted(one) for one in all_of])
        failed += 1
    n = sum(compare(key, [one.get(key, (None, 0)) for one in all_of]) for key in all_of[0])
    if n < enough:
        print("only %d %s" % (n, kind))
        failed += 1
sys.exit(failed > 0)
