# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the folder of a study says, counted again: from the outputs of the programs, the journal and the plan.

study_oracle.py results FOLDER CSV    each number of "study --format csv FOLDER", and no other rows
study_oracle.py words FOLDER JSON     the sentences agree with the numbers
study_oracle.py order FOLDER          the runs of the journal are in the order that the seed gives
study_oracle.py guests FOLDER PAGE    a page has this table: exits and bytes of runs in guests, with ratios
"""
import csv
import json
import math
import os
import re
import statistics
import sys

PERCENT = re.compile(r"[-+]?\d+(?:\.\d+)?(?= %)")


# --- the outputs, by what their programs print


def hackbench(text):
    groups = re.search(r"with (\d+) groups", text).group(1)
    yield f"groups{groups}.time_s", float(re.search(r"^Time: ([\d.]+)$", text, re.M).group(1)), "lower"


def cyclictest(text):
    if "{" not in text:
        found = [re.search(r"Min: *(\d+) Act: *\d+ Avg: *(\d+) Max: *(\d+)", line) for line in text.split("\n")]
        threads = [[int(number) for number in one.groups()] for one in found if one]
        for i, key in enumerate(("min", "avg", "max")):
            yield key, statistics.fmean(thread[i] for thread in threads), "lower"
        return
    # its summary as text follows
    threads = json.JSONDecoder().raw_decode(text, text.index("{"))[0]["thread"].values()
    for key in "min", "avg", "max":
        yield f"{key}_us", statistics.fmean(t[key] for t in threads), "lower"


def sysbench(text):
    kind = "cpu." if "CPU speed:" in text else ""
    threads = re.search(r"Number of threads: (\d+)", text).group(1)
    before = f"{kind}threads{threads}."
    for name, title, better in (
            ("events_per_s", "events per second", "higher"), ("time_s", "total time", "lower"),
            ("events", "total number of events", "higher"), ("latency_min_ms", "min", "lower"),
            ("latency_avg_ms", "avg", "lower"), ("latency_max_ms", "max", "lower"),
            ("latency_p95_ms", "95th percentile", "lower")):
        found = re.search(rf"^ *{title}: +([\d.]+)s?$", text, re.M)
        if found:
            yield before + name, float(found.group(1)), better


PROGRAMS = {"hackbench": hackbench, "cyclictest": cyclictest, "sysbench": sysbench}


def volumes(run):
    wall = run["wall_s"]
    for name, key in (("records_per_s", "records"), ("bytes_per_s", "bytes"), ("guest_records_per_s", "guest_records"),
                      ("guest_bytes_per_s", "guest_bytes")):
        if key in run:
            yield f"trace.{name}", run[key] / wall
    for key in "bytes", "guest_bytes":
        if key in run:
            yield f"trace.{key}", run[key]
    if run.get("records", 0) + run.get("lost", 0):
        yield "trace.lost_percent", 100 * run["lost"] / (run["records"] + run["lost"])
    for name, key in (("cpu_percent", "cpu_percent"), ("others_cpu_percent", "others_percent"),
                      ("steal_percent", "steal_percent"), ("memory_mib", "memory_mib"), ("runnable", "runnable"),
                      ("throttled", "throttled"), ("exits", "exits")):
        if key in run:
            yield f"host.{name}", run[key]


def load(folder):
    """Return: plan, runs, and {(metric, configuration): {round: value}}, {metric: better}."""
    plan = json.load(open(os.path.join(folder, "plan.json")))
    runs = [json.loads(line) for line in open(os.path.join(folder, "journal.jsonl"))]
    benchmarks = {b["name"]: b for b in plan["benchmarks"]}
    values, better = {}, {}
    for run in runs:
        if not run["round"]:
            continue
        name, config, number = run["benchmark"], run["configuration"], run["round"]
        found = []
        if benchmarks[name].get("format") == "time":
            found.append(("wall_s", run["wall_s"], "lower"))
        else:
            text = open(os.path.join(folder, "raw", config, f"{name}.r{number:03}.txt")).read()
            found += PROGRAMS[os.path.basename(benchmarks[name]["command"][0])](text)
        if "own_s" in run:
            found.append(("cpu_s", run["own_s"], ""))
        found += [(metric, value, "") for metric, value in volumes(run)]
        for metric, value, which in found:
            values.setdefault((f"{name}.{metric}", config), {})[number] = value
            better[f"{name}.{metric}"] = which
    return plan, runs, values, better


# --- statistics, in other ways than the command


def t_quantile(p, df):
    """Of Student's distribution: its density is added up by Simpson's rule, and the place found by bisection."""
    norm = math.gamma((df + 1) / 2) / math.gamma(df / 2) / math.sqrt(df * math.pi)

    def below(x):
        n = 2000
        width = x / n
        sums = [(1 + (i * width) ** 2 / df) ** (-(df + 1) / 2) for i in range(n + 1)]
        return 0.5 + norm * width / 3 * (sums[0] + sums[n] + 4 * sum(sums[1:n:2]) + 2 * sum(sums[2:n:2]))

    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return low


QUANTILES = {}


def interval(sample):
    n = len(sample)
    if n not in QUANTILES:
        QUANTILES[n] = t_quantile(0.975, n - 1)
    half = QUANTILES[n] * statistics.stdev(sample) / math.sqrt(n)
    return statistics.fmean(sample) - half, statistics.fmean(sample) + half


def near(text, number, what):
    # six digits are printed; journals have nine
    assert math.isclose(float(text), number, rel_tol=2e-5, abs_tol=2e-6), (what, text, number)


def check_difference(row, base, other, least):
    pairs = sorted(set(base) & set(other))
    # there are ratios only if all values of the metric, with any tracing, are above 0
    if not pairs or least <= 0:
        return
    logs = [math.log(other[r] / base[r]) for r in pairs]
    near(row["difference_percent"], 100 * math.expm1(statistics.fmean(logs)), row)
    if len(logs) < 2:
        assert row["verdict"] == "too few values", row
        return
    low, high = (100 * math.expm1(end) for end in interval(logs))
    near(row["difference_low"], low, row)
    near(row["difference_high"], high, row)
    assert row["verdict"] == ("different" if low > 0 or high < 0 else "within noise"), row
    effect = ""
    if row["verdict"] == "different" and row["better"]:
        effect = "better" if (low > 0) == (row["better"] == "higher") else "worse"
    assert row["effect"] == effect, row


def results(folder, path):
    plan, _, values, better = load(folder)
    baseline = plan["configurations"][0]["name"]
    seen = set()
    for row in csv.DictReader(open(path)):
        key = row["metric"], row["configuration"]
        sample = list(values[key].values())
        assert key not in seen and row["metric"].startswith(row["benchmark"] + "."), row
        seen.add(key)
        assert int(row["runs"]) == len(sample) and row["better"] == better[row["metric"]], row
        near(row["mean"], statistics.fmean(sample), row)
        if len(sample) > 1:
            near(row["stddev"], statistics.stdev(sample), row)
        if row["configuration"] == baseline:
            assert row["verdict"] == "baseline" and not row["difference_percent"], row
        else:
            least = min(value for (metric, _), of in values.items() if metric == row["metric"] for value in of.values())
            check_difference(row, values.get((row["metric"], baseline), {}), values[key], least)
    assert seen == set(values), set(values) ^ seen
    # more with the counters of a processor, which not every machine has
    assert len({metric for metric, _ in seen}) >= 8
    print(len(seen), "rows")


# --- words


def words(folder, path):
    said = json.load(open(path))
    plan, _, values, _ = load(folder)
    rows = {(r["metric"], r["configuration"]): r for r in said["results"]}
    costs = 0
    for sentence in said["sentences"]:
        found = re.fullmatch(r"While (\S+) ran with (\S+), there were (\d+) VM exits\.", sentence)
        if found:
            sample = values[f"{found.group(1)}.host.exits", found.group(2)].values()
            assert int(found.group(3)) == round(statistics.fmean(sample)), sentence
            continue
        found = re.match(r"With (\S+), (\S+) (is|differs)", sentence)
        if not found:
            assert re.match(r"While \S+ ran, \S+ recorded |\S+, \S+: mean ", sentence), sentence
            continue
        row = rows[found.group(2), found.group(1)]
        numbers = [float(n) for n in PERCENT.findall(sentence)]
        wanted = [row["difference_percent"], 95, row["difference_low"], row["difference_high"]]
        if found.group(3) == "is":
            wanted[0] = abs(wanted[0])
            assert (" higher than with " in sentence) == (row["difference_percent"] > 0), sentence
            assert row["verdict"] == "different" and row.get("effect", "") in sentence, sentence
        else:
            assert row["verdict"] == "within noise" and "within noise" in sentence, sentence
            if "better" in row:
                worst = -row["difference_low"] if row["better"] == "higher" else row["difference_high"]
                wanted.append(max(worst, 0))
        assert len(numbers) == len(wanted) and all(abs(a - b) < 0.0051 for a, b in zip(numbers, wanted)), sentence
        costs += 1
    metrics = {m for m, c in values if c == plan["configurations"][0]["name"] and ".host." not in m and ".trace." not in m}
    costs -= sum(m.endswith(".host.exits") for m, c in values if c != plan["configurations"][0]["name"])
    assert costs <= len(metrics) * (len(plan["configurations"]) - 1) and costs >= len(plan["benchmarks"]), (costs, metrics)
    rounds = min(len(values[m, c["name"]]) for m in metrics for c in plan["configurations"])
    assert said["rounds"] == rounds and said["seed"] == plan["seed"], said["rounds"]
    print(costs, "sentences about costs")


# --- the table of a page


def ratio(base, other):
    """The geometric mean of the ratios of all rounds, with its interval."""
    logs = [math.log(other[r] / base[r]) for r in sorted(set(base) & set(other))]
    low, high = interval(logs)
    return f"{math.exp(statistics.fmean(logs)):.2f} ({math.exp(low):.2f} to {math.exp(high):.2f})"


def guests(folder, path):
    plan, _, values, _ = load(folder)
    page = open(path).read().split("\n")
    lines = []
    for name in (b["name"] for b in plan["benchmarks"]):
        first = {}
        for config in (c["name"] for c in plan["configurations"]):
            cells = [name, f"`{config}`"]
            # the first configuration that has a number is what the others are compared with
            for metric, unit in ("host.exits", 1), ("trace.bytes", 1024), ("trace.guest_bytes", 1024):
                of = values.get((f"{name}.{metric}", config))
                cells += [f"{statistics.fmean(of.values()) / unit:.0f}" if of else "-", "-"]
                if of and metric in first:
                    cells[-1] = ratio(first[metric], of)
                elif of:
                    first[metric] = of
                    cells[-1] = "1"
            lines.append("| " + " | ".join(cells) + " |")
    print("\n".join(lines))
    assert len(lines) == 8 and all(line in page for line in lines)


# --- order


MASK = (1 << 64) - 1


class Random:
    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state + 0x9e3779b97f4a7c15) & MASK
        z = self.state
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb & MASK
        return z ^ (z >> 31)

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.next() * (i + 1) >> 64
            items[i], items[j] = items[j], items[i]
        return items


def order(folder):
    plan, runs, _, _ = load(folder)
    wanted = []
    rounds = max(run["round"] for run in runs)
    for number in range(1, rounds + 1):
        random = Random(Random(plan["seed"]).next() ^ number)
        for benchmark in random.shuffled(b["name"] for b in plan["benchmarks"]):
            for config in random.shuffled(c["name"] for c in plan["configurations"]):
                wanted.append((number, benchmark, config))
    got = [(r["round"], r["benchmark"], r["configuration"]) for r in runs if r["round"]]
    assert got == wanted[:len(got)] and len(got) > len(wanted) - len(wanted) / rounds, (got, wanted)


if __name__ == "__main__":
    {"results": results, "words": words, "order": order, "guests": guests}[sys.argv[1]](*sys.argv[2:])
