#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read outputs of benchmarks again, in Python, and compare with the values of "compare --format csv".

Usage: results_oracle.py values FOLDER COMPARED.csv RUN
           all values of hackbench, sysbench cpu and cyclictest below FOLDER/RUN: number, mean, p99, stddev
       results_oracle.py printed FOLDER COMPARED.csv RUN
           the numbers that programs themselves printed into the files of FOLDER
       results_oracle.py mmtests TABLE.txt COMPARED.csv
           the means and standard deviations that MMTests itself printed
"""
import collections
import csv
import glob
import json
import math
import os
import re
import statistics
import sys

checked = 0


def compared(path):
    """{(metric, run, statistic): (number of values, value)}"""
    with open(path) as rows:
        return {(row["metric"], row["run"], row["statistic"]):
                (int(row["values"]), float(row["value"]) if row["value"] else None)
                for row in csv.DictReader(rows)}


def near(what, ours, theirs, tolerance=1e-6):
    global checked
    checked += 1
    if ours is None or abs(ours - theirs) > tolerance * max(1e-12, abs(theirs)):
        sys.exit("%s: %s instead of %s" % (what, ours, theirs))


def read(*parts):
    with open(os.path.join(*parts)) as text:
        return text.read()


def find(pattern, text):
    return [float(number) for number in re.findall(pattern, text, re.M)]


def values(folder, table, run):
    wanted = collections.defaultdict(list)
    for path in glob.glob(os.path.join(folder, run, "*")):
        text, name = read(path), os.path.basename(path)
        if name.startswith("hackbench"):
            wanted["hackbench.groups2.time_s"] += find(r"^Time: (\S+)", text)
        elif name.startswith("sysbench-cpu"):
            for metric, pattern in (("events_per_s", r"events per second: *(\S+)"), ("latency_avg_ms", r"^ +avg: *(\S+)"),
                                    ("latency_p95_ms", r"95th percentile: *(\S+)"), ("time_s", r"total time: *([\d.]+)s")):
                wanted["sysbench.cpu.threads2." + metric] += find(pattern, text)
        elif name.startswith("cyclictest-summary"):
            for title in ("Min", "Avg", "Max"):
                wanted["cyclictest." + title.lower()] += find(title + r": *(\d+)", text)
        elif name.endswith(".json"):
            for thread in json.loads(text)["thread"].values():
                for key in ("min", "avg", "max"):
                    wanted["cyclictest.%s_us" % key].append(thread[key])
                samples = [int(latency) for latency, n in thread["histogram"].items() for _ in range(n)]
                # what the histogram has is what the program itself has averaged
                near("the mean of %s" % name, statistics.mean(samples), thread["avg"], 1e-3)
                wanted["cyclictest.latency_us"] += samples
    assert len(wanted) == 12, sorted(wanted)
    for metric, numbers in wanted.items():
        n, mean = table[metric, run, "mean"]
        assert n == len(numbers) > 5, (metric, n, len(numbers))
        near(metric, mean, statistics.mean(numbers))
        near(metric, table[metric, run, "stddev"][1], statistics.stdev(numbers))
        if n >= 100:
            near(metric, table[metric, run, "p99"][1], sorted(numbers)[math.ceil(0.99 * n) - 1])


def printed(folder, table, run):
    def mean(metric):
        return table[metric, run, "mean"][1]

    # cyclictest cuts its averages to whole numbers in text
    text = read(folder, "cyclictest-histogram.txt")
    n = find(r"^# Total: (\d+)", text)[0]
    rows = re.findall(r"^(\d+) (\d+)$", text, re.M)
    assert n == sum(int(count) for _, count in rows)
    verbose = find(r"^ +\d+: +\d+: +(\d+)$", read(folder, "cyclictest-verbose.txt"))
    samples = [int(value) for value, count in rows for _ in range(int(count))] + verbose
    assert int(sum(int(value) * int(count) for value, count in rows) / n) == find(r"Avg Latencies: (\d+)", text)[0]
    near("text", mean("cyclictest.latency"), statistics.mean(samples))
    assert table["cyclictest.latency", run, "mean"][0] == len(samples) >= 150
    # only the last line of a thread counts
    averages = []
    for name in ("cyclictest-histogram.txt", "cyclictest-above.txt"):
        averages += [int(number) for number in re.search(r"# Avg Latencies:(.*)", read(folder, name)).group(1).split()]
    averages += find(r"Avg: *(\d+)", read(folder, "cyclictest-live.txt"))[-1:]
    near("averages", mean("cyclictest.avg"), statistics.mean(averages))
    # -N: ns become us
    thread = json.loads(read(folder, "cyclictest-ns.json"))["thread"]["0"]
    near("ns", mean("cyclictest.avg_us"), thread["avg"] / 1000)
    near("ns", table["cyclictest.latency_us", run, "mean"][1], thread["avg"] / 1000, 1e-3)
    for result in json.loads(read(folder, "hyperfine.json"))["results"]:
        metric = "hyperfine.%s.time_s" % result["command"]
        near(metric, mean(metric), result["mean"])
        near(metric, table[metric, run, "stddev"][1], result["stddev"])
        near(metric, table[metric, run, "p50"][1], result["median"])
    fio = json.loads(read(folder, "fio.json"))["jobs"][0]
    for direction in ("read", "write"):
        for metric, theirs in (("iops", fio[direction]["iops"]), ("bytes_per_s", fio[direction]["bw_bytes"]),
                               ("clat_mean_ns", fio[direction]["clat_ns"]["mean"]),
                               ("clat_p99_ns", fio[direction]["clat_ns"]["percentile"]["99.000000"])):
            near("fio", mean("fio.job.%s.%s" % (direction, metric)), theirs)
    schbench = read(folder, "schbench.txt")
    for metric, theirs in zip(("wakeup_latency", "request_latency"), find(r"\* 99.0th: (\d+)", schbench)):
        near("schbench", mean("schbench.%s_p99_us" % metric), theirs)
    near("schbench", mean("schbench.average_rps"), find(r"average rps: (\S+)", schbench)[0])
    unixbench = read(folder, "unixbench.txt")
    near("UnixBench", mean("unixbench.copies1.pipe_throughput_lps"), find(r"^Pipe Throughput +(\S+) lps", unixbench)[0])
    for copies, theirs in zip((1, 2), find(r"Index Score \(Partial Only\) +(\S+)", unixbench)):
        near("UnixBench", mean("unixbench.copies%d.partial_index" % copies), theirs)
    bench = read(folder, "perf-bench.txt")
    near("perf bench", mean("perf_bench.sched.messaging.groups2.time_s"),
         statistics.mean(find(r"Total time: (\S+)", bench)[:2]))
    near("perf bench", mean("perf_bench.sched.pipe.ops_per_s"), find(r"^ +(\d+) ops/sec", bench)[0])
    memory = read(folder, "sysbench-memory.txt")
    near("sysbench", mean("sysbench.memory.threads1.mib_per_s"), find(r"\((\S+) MiB/sec", memory)[0])
    near("sysbench", mean("sysbench.fileio.threads1.reads_per_s"),
         find(r"reads/s: +(\S+)", read(folder, "sysbench-fileio.txt"))[0])
    stat = [line.split(",") for line in read(folder, "perf-stat.csv").splitlines() if "," in line]
    repeated = [line.split(";") for line in read(folder, "perf-stat-repeat.csv").splitlines() if ";" in line]
    for event, unit in (("task-clock", "_msec"), ("page-faults", "")):
        near("perf stat", mean("perf." + event + unit),
             statistics.mean(float(fields[0]) for fields in stat + repeated if fields[2] == event))
    last, rates = 0, []
    for line in read(folder, "perf-stat-interval.csv").splitlines():
        fields = line.split(",")
        if len(fields) > 3 and fields[3] == "page-faults":
            rates.append(float(fields[1]) / (float(fields[0]) - last))
            last = float(fields[0])
    near("perf stat -I", mean("perf.page-faults_per_s"), statistics.mean(rates))
    near("perf stat -A", mean("perf.CPU1.page-faults"),
         float(re.search(r"^CPU1,(\d+),,page-faults", read(folder, "perf-stat-cpus.csv"), re.M).group(1)))


def mmtests(path, table):
    for line in read(path).splitlines():
        cells = re.match(r"(Amean|Stddev) +time-(\d+) +(\S+) \( *\S+ +(\S+) \(", line)
        if not cells:
            continue
        kind, groups, none, events = cells.groups()
        metric = "hackbench-process-pipes.perf_bench.sched.messaging.groups%s.time_s" % groups
        for run, theirs in (("none", none), ("events", events)):
            near(line, table[metric, run, "mean" if kind == "Amean" else "stddev"][1], float(theirs), 1e-3)
    assert checked == 8, checked


if sys.argv[1] == "mmtests":
    mmtests(sys.argv[2], compared(sys.argv[3]))
else:
    {"values": values, "printed": printed}[sys.argv[1]](sys.argv[2], compared(sys.argv[3]), sys.argv[4])
print("%d numbers are right" % checked)
