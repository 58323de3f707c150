# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests and accesses of a monitor, recounted from the text of its log and of its host's trace.

    report_devices.py DEVICES.json DEVICES.csv REPORT.json LOG HOST.text HOST.meta.json [late]

DEVICES is the output of --devices, REPORT the report of the same window, HOST.text what "trace-cmd report -t" prints
of the host. "late": the log's clock is that many ns late. Prints how many requests and accesses there were.
"""
import collections
import csv
import json
import math
import re
import sys

LINE = re.compile(r"^(\d+)@(\d+)\.(\d{6}):(\w+) ?(.*)$")
HOST = re.compile(r"^\s*.*?-(\d+)\s+\[\d+\]\s*(?:[^\s\d]\S{3,5}\s+)?(\d+)\.(\d{9}):\s+(kvm_userspace_exit|kvm_entry):")


def rank(values, part):
    return values[max(math.ceil(part * len(values)), 1) - 1]


def requests_of(lines, begin_ns, end_ns):
    """(device, operation): latencies in ns and bytes of those that begin then; by what queues and disks say."""
    names, owner, going, done = {}, {}, {}, collections.defaultdict(lambda: [[], 0])
    for _, _, event, text in lines:
        name = re.match(r"obj=(0x\w+)\((.*)\)", text)
        if event == "resettable_phase_enter_begin":
            names[name[1]] = name[2]
        words = text.split()
        values = dict(zip(words[::2], words[1::2]))
        if "vdev" in values and "vq" in values:
            owner[values["vq"]] = values["vdev"]
    for time, _, event, text in lines:
        words = text.split()
        values = dict(zip(words[::2], words[1::2]))
        if event == "virtqueue_pop":
            going[values["elem"]] = [time, names[owner[values["vq"]]], "request", 0]
        elif event in ("virtio_blk_handle_read", "virtio_blk_handle_write"):
            going[values["req"]][2:] = [event.rpartition("_")[2], 512 * int(values["nsectors"])]
        elif event == "virtqueue_fill":
            begin, device, operation, size = going.pop(values["elem"])
            if begin_ns <= begin < end_ns:
                done[device, operation][0].append(time - begin)
                done[device, operation][1] += size or int(values["len"])
        elif event == "thread_pool_submit":
            going[values["req"]] = [time]
        elif event == "thread_pool_complete":
            begin, = going.pop(values["req"])
            if begin_ns <= begin < end_ns:
                done["worker threads", "work"][0].append(time - begin)
    assert not going
    return done


def check_requests(monitor, wanted):
    printed = {(d["device"], d["operation"]): d for d in monitor["devices"]}
    assert printed.keys() == wanted.keys(), (printed.keys(), wanted.keys())
    for key, (latencies, size) in wanted.items():
        row, latencies = printed[key], sorted(latencies)
        printed_latency = row["latency"]
        assert row["count"] == printed_latency["count"] == len(latencies), row
        assert row["bytes"] == size and printed_latency["total_ns"] == sum(latencies), (row, size)
        assert [printed_latency[k] for k in ("min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")] == \
            [latencies[0], rank(latencies, 0.5), rank(latencies, 0.95), rank(latencies, 0.99), latencies[-1]], row
        assert sum(b["count"] for b in row["begun_by"]) == row["count"]


def stays_of(text, threads):
    """By thread: from where KVM goes back to the monitor to the next entry."""
    stays, since = collections.defaultdict(list), {}
    for line in open(text, errors="replace"):
        match = HOST.match(line)
        if not match or int(match[1]) not in threads:
            continue
        thread, time = int(match[1]), int(match[2]) * 10**9 + int(match[3])
        if match[4] == "kvm_userspace_exit":
            since[thread] = time
        elif thread in since:
            stays[thread].append((since.pop(thread), time))
    return stays


def check_accesses(monitor, lines, stays, zero):
    """Each that lies in the host's trace is in a stay, and is reported."""
    wanted, inside, judged, here = collections.Counter(), 0, 0, set()
    first, last = min(s[0][0] for s in stays.values()), max(s[-1][1] for s in stays.values())
    for time, thread, event, text in lines:
        if thread not in stays or not first <= time - zero < last:
            continue
        judged += 1
        stay = [s for s in stays[thread] if s[0] - 1000 <= time - zero < s[1]]
        inside += bool(stay)
        access = re.match(r"cpu \d+ mr (0x\w+) addr \S+ value \S+ size (\d+) name '(.*)'$", text)
        if access and stay:
            wanted[access[1], event.rpartition("_")[2], int(access[2])] += 1
            here.add((thread, stay[0]))
    assert inside == judged > 50, (inside, judged)
    rows = [row for row in monitor["vmm"] if "device" in row]
    assert wanted == {(r["pointer"], r["operation"], r["bytes"]): r["count"] for r in rows}, (wanted, rows)
    assert sum(r["stretches"] for r in rows) == len(here)
    assert sum(r["total_ns"] for r in monitor["vmm"]) == monitor["vmm_ns"]
    assert monitor["explained_percent"] > 99 and monitor["judged"] >= judged
    return sum(wanted.values())


def check_csv(monitor, rows):
    rows = [r for r in rows if r["monitor"] == monitor["monitor"]]
    requests = [r for r in rows if r["section"] == "request"]
    assert [(int(r["count"]), int(r["latency_total_ns"]), r["operation"], int(r["bytes"])) for r in requests] == \
        [(d["count"], d["latency"]["total_ns"], d["operation"], d["bytes"]) for d in monitor["devices"]]
    assert [(int(r["count"]), int(r["stretches"]), int(r["total_ns"])) for r in rows if r["section"] == "vmm"] == \
        [(v["count"], v["stretches"], v["total_ns"]) for v in monitor["vmm"]]
    assert len({len(r) for r in rows}) == 1 and not any(None in r for r in rows)


def main(devices, table, report, log, text, meta, late="0"):
    monitors = [m for m in json.load(open(devices))["monitors"] if m["monitor"].endswith(log.rpartition("/")[2])]
    monitor, = monitors
    moment = json.load(open(meta))["moment"]
    zero = moment["realtime_ns"] - moment["trace_ns"] + int(late)
    lines = [(int(m[2]) * 10**9 + int(m[3]) * 1000, int(m[1]), m[4], m[5]) for m in map(LINE.match, open(log)) if m]
    begin, end = json.load(open(devices))["window_ns"]
    check_requests(monitor, requests_of(lines, begin + zero, end + zero))
    machine, = [m for m in json.load(open(report))["machines"] if m["machine"] == monitor["machine"]]
    threads = {v["tid"] for v in machine["vcpus"]}
    n = check_accesses(monitor, lines, stays_of(text, threads), zero)
    assert monitor["vmm_ns"] == sum(v["states"]["vmm"]["total_ns"] for v in machine["vcpus"])
    check_csv(monitor, list(csv.DictReader(open(table))))
    low, high = monitor["interval_ns"]
    assert low <= 0 <= high
    assert low - 1000 <= -zero - monitor["offset_ns"] <= high + 1000, (zero, monitor)
    print(n + sum(d["count"] for d in monitor["devices"]))


main(*sys.argv[1:])
