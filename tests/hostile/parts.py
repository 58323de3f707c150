# SPDX-License-Identifier: LGPL-2.1-or-later
"""Families of attacks on parts of traces: split, merge, and the sidecars that keep what they know."""
import json
import os
import re
import signal
import threading

import damage
import judge
from bad_names import as_json, bad_name
from judge import wrong

REPORTS = (["report", "--full"], ["report", "--worst", "20"], ["report", "--waits"], ["report", "--power"],
           ["report", "--migrations"])


def report_of(case, words, name):
    """Without warnings: they are about the file, its damage and its losses, not about the window."""
    result = case.run(*words, "-q", "-fjson", name, names=[name])
    return result.status, re.sub(rb'^ "warnings": \[\n.*?^ \],?\n', b"",
                                 result.out.replace(name.encode(), b"NAME"), flags=re.M | re.S)


def window_of(case, name):
    """Where it begins and ends, in ns; None: it cannot be read."""
    result = case.run("report", "-q", "-fjson", name, names=[name])
    if result.status:
        return None
    return judge.check_format(result.out, "json", "report")["window_ns"]


def same(case, words, whole, part):
    """The same report; the longest times that there can be are all alike."""
    page = case.rng.choice(REPORTS)
    a, b = report_of(case, [*page, *words], whole), report_of(case, page, part)
    if a != b:
        wrong("%s of %s is not that of its part" % (" ".join(page), " ".join(words)))


def cut(case, name, out, *words):
    """Return: could it be cut out?"""
    result = case.run("split", "-q", *words, "-o", out, name, names=[name])
    if result.status == 3 and b"there is no record" not in result.err and \
            b"jumps back" not in result.err and b"its sidecar would be" not in result.err:
        wrong("not cut out: " + result.err.decode(errors="replace"))
    return result.status == 0


def parts(case):
    """Damaged traces are cut up and put together: all that is known is the same."""
    data, offsets = case.world.samples.xen(case.rng)
    if case.rng.random() < 0.8:
        data = damage.damage(case.rng, data, offsets)[0]
    case.write("t.xen", data)
    if case.rng.random() < 0.3:
        # they are taken over
        case.write("t.xen.meta.json", b'{ "domains": [ %s ] }' % b", ".join(
            b'{ "id": %d, "name": %s }' % (i, as_json(bad_name(case.rng))) for i in range(4)))
    ends = window_of(case, "t.xen")
    # beyond these, times are cut
    if not ends or max(ends) > 1 << 60 or ends[1] - ends[0] < 4:
        return
    at = sorted(case.rng.sample(range(ends[0] + 1, ends[1]), 2))
    words = ["--from=%dns" % at[0], "--to=%dns" % at[1]]
    if cut(case, "t.xen", "p.xen", *words):
        same(case, words, "t.xen", "p.xen")
    pieces = [cut(case, "t.xen", "a.xen", "--to=%dns" % at[0]),
              cut(case, "t.xen", "b.xen", "--from=%dns" % at[0])]
    if all(pieces):
        if case.run("merge", "-q", "-o", "m.xen", "b.xen", "a.xen").status:
            wrong("parts of a trace cannot be put together")
        same(case, [], "t.xen", "m.xen")
    if cut(case, "t.xen", "c.xen", "--pcpu=0") and cut(case, "t.xen", "d.xen", "--pcpu=1-3"):
        case.run("merge", "-q", "-o", "m.xen", "c.xen", "d.xen")
        case.run("report", "-fjson", "c.xen")
    judge.no_leftovers(case.folder, "split and merge")


def lies(case, value):
    """A value of JSON in which something is another one."""
    rng = case.rng
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: lies(case, value[key])}
    if isinstance(value, list) and value:
        i = rng.randrange(len(value))
        kind = rng.randrange(6)
        if kind == 0:
            return value[:i] + value[i + 1:]
        if kind == 1:
            return value + [value[i]] * rng.choice((1, 5, 1000))
        return value[:i] + [lies(case, value[i])] + value[i + 1:]
    if isinstance(value, str) and " " in value:
        words = value.split(" ")
        words[rng.randrange(len(words))] = rng.choice(
            ("-1", "0", "1", "3", "32767", "32768", "99999", str(1 << 62), str(-1 << 63), "x", "-",
             "guest", "blocked", "unknown", "?", "", "2147483647", "400000"))
        return " ".join(words)
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice((-1, 1, -1000, 1000))
    return rng.choice((0, -1, 1, 1 << 62, -1 << 63, 1 << 64, "x", None, [], {}, "0xffffffffffffffff",
                       32767, 32768, 1e300, True))


def part_sidecars(case):
    """What is kept beside a part lies: it is read, or left aside, and nothing breaks."""
    data, _ = case.world.samples.xen(case.rng)
    case.write("t.xen", data)
    ends = window_of(case, "t.xen")
    at = sorted(case.rng.sample(range(ends[0], ends[1]), 2))
    words = ["--from=%dns" % at[0], "--to=%dns" % at[1]]
    if case.rng.random() < 0.3:
        words += ["--pcpu=0,2"]
    if not cut(case, "t.xen", "p.xen", *words):
        return
    meta = json.loads(case.read("p.xen.meta.json"))
    for _ in range(case.rng.choice((1, 1, 2, 8))):
        meta["part"] = lies(case, meta["part"])
    case.write("p.xen.meta.json", json.dumps(meta).encode())
    for command in case.rng.sample(REPORTS + (["dump"], ["plot", "-fsvg"], ["why", "--worst=3"],
                                              ["top", "--interval=1"], ["export", "-fperfetto",
                                               "-o", "x"], ["report", "--correct-skew"]), 3):
        case.run(*command, "-q", "p.xen", names=["p.xen"])
    case.run("split", "-q", "--from", "0", "-o", "s.xen", "p.xen", names=["p.xen"])
    case.write("q.xen", case.read("p.xen"))
    case.write("q.xen.meta.json", json.dumps(meta).encode())
    case.run("merge", "-q", "-o", "m.xen", "p.xen", "q.xen")
    judge.no_leftovers(case.folder, "split and merge")


def part_kills(case):
    """What is there after a signal is complete: the trace with its sidecar, or what was before."""
    data, _ = case.world.samples.xen(case.rng)
    case.write("t.xen", data)
    case.run("split", "-q", "--from", "0", "-o", "new.xen", "t.xen")
    case.write("out.xen", b"old")
    process = case.start(["split", "-q", "--from", "0", "-o", "out.xen", "t.xen"])[1]
    how = case.rng.choice((signal.SIGTERM, signal.SIGINT, signal.SIGKILL))
    if case.rng.random() < 0.6:
        judge.wait_until(lambda: process.poll() is not None or any(
            name.startswith(".kshark-virt") for name in os.listdir(case.folder)))
    else:
        threading.Event().wait(case.rng.uniform(0, 0.2))
    if process.poll() is None:
        process.send_signal(how)
    status = judge.wait(process)
    if status not in (0, -how):
        wrong("ended with %d after signal %d" % (status, how))
    sidecar = os.path.exists(case.path("out.xen.meta.json"))
    is_old = case.read("out.xen") == b"old"
    if not is_old:
        if case.read("out.xen") != case.read("new.xen") or not sidecar:
            wrong("a trace that is not complete, or has no sidecar")
    if sidecar:
        written = json.loads(case.read("out.xen.meta.json"))
        # from before the trace is there until after it, the sidecar keeps the older one, of which there is none
        replaces = written.pop("replaces", None)
        if written != json.loads(case.read("new.xen.meta.json")):
            wrong("a sidecar that is not complete")
        if replaces is None if is_old else status == 0 and replaces is not None:
            wrong("a sidecar that does not keep the older one, or keeps it in the end")
        if replaces is not None and (replaces["trace_bytes"], replaces["sidecar"]) != (len(b"old"), {}):
            wrong("another sidecar than the older one is kept")
    if status == 0 and is_old:
        wrong("exit status 0 and no output")
    if how != signal.SIGKILL:
        judge.no_leftovers(case.folder, "signal %d" % how)


def windows(case):
    """Windows that KernelShark would load: of damaged traces, and such whose file lies."""
    data, offsets = case.world.samples.xen(case.rng)
    sound = case.rng.random() < 0.4
    if not sound:
        data = damage.damage(case.rng, data, offsets)[0]
    case.write("t.xen", data)
    ends = window_of(case, "t.xen")
    if not ends or max(ends) > 1 << 60 or ends[1] - ends[0] < 4:
        return
    at = sorted(case.rng.sample(range(ends[0] + 1, ends[1]), 2))
    words = ["--from=%dns" % at[0], "--to=%dns" % at[1]]
    env = {"XDG_CACHE_HOME": case.folder}
    result = case.run("view", "-n", *words, "t.xen", names=["t.xen"], env=env)
    found = [os.path.join(folder, name) for folder, _, names in os.walk(case.path("kshark-virt"))
             for name in names]
    if len(found) != (result.status == 0):
        wrong("exit status %d, and %d files for the window" % (result.status, len(found)))
    if not found:
        return
    with open(found[0], "rb") as file:
        window = json.loads(file.read())
    if sound:
        pointed = case.run("dump", "-q", "-fcsv", found[0], names=[found[0]]).out
        if pointed != case.run("dump", "-q", "-fcsv", *words, "t.xen", names=["t.xen"]).out:
            wrong("the records of %s are not those of its file" % " ".join(words))
    else:
        for _ in range(case.rng.choice((0, 1, 2))):
            window = lies(case, window)
        traces = [window["trace"]] if isinstance(window, dict) and "trace" in window else []
        case.write("w.window", json.dumps(window).encode())
        for command in case.rng.sample(REPORTS + (["dump"], ["plot", "-fsvg"], ["why", "--worst=3"],
                                                  ["split", "--from", "0", "-o", "s.xen"], ["view", "-n"]), 3):
            case.run(*command, "w.window", names=["w.window", *traces], env=env)
