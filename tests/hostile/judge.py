# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run a command, and judge what has come of it: only what can be proved to be wrong."""
import csv
import io
import json
import os
import re
import resource
import signal
import subprocess
import time
import unicodedata
import xml.etree.ElementTree as tree

STATUSES = range(5)             # kshark-virt(1)
SANITIZER_STATUS = 99
CPU_SECONDS, WALL_SECONDS = 60, 400
MAX_OUTPUT = 512 << 20
NUMBER = re.compile(r"[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
BAD = ("Cc", "Cf", "Cn", "Zl", "Zp")


class Finding(Exception):
    """KIND: crash, hang, wrong, lost"""
    def __init__(self, kind, what):
        super().__init__(what)
        self.kind = kind


class Result:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err


def sanitizer_environment(source):
    return {
        "ASAN_OPTIONS": "exitcode=%d:detect_leaks=0:allocator_may_return_null=1:"
                        "verify_asan_link_order=0:disable_coredump=1" % SANITIZER_STATUS,
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LSAN_OPTIONS": "suppressions=%s/tests/lsan.supp" % source,
    }


def limits(cpu, size, memory):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        for fd in set_limits.closed:
            os.close(fd)
    set_limits.closed = ()
    return set_limits


def start(command, folder, stdin=subprocess.DEVNULL, stdout=None, env=None, cpu=CPU_SECONDS,
          size=MAX_OUTPUT, memory=0, closed=()):
    """Start a command in @folder; its output is in files there, unless @stdout is given."""
    set_up = limits(cpu, size, memory)
    set_up.closed = closed
    with open(os.path.join(folder, "stdout"), "wb") as out, \
            open(os.path.join(folder, "stderr"), "wb") as err:
        return subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=stdout or out, stderr=err,
                                env=env, preexec_fn=set_up)


def wait(process, wall=WALL_SECONDS):
    """Wait for its end. Return: its exit status; raises Finding if it hung."""
    try:
        return process.wait(wall)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Finding("hang", "no end after %d s" % wall) from None


def finish(process, command, folder, wall=WALL_SECONDS):
    """Wait for its end. Return: what came of it; raises Finding if it crashed or hung."""
    status = wait(process, wall)
    with open(os.path.join(folder, "stdout"), "rb") as out:
        out = out.read()
    with open(os.path.join(folder, "stderr"), "rb") as err:
        err = err.read()
    if status == -signal.SIGXCPU or (status == -signal.SIGKILL and wall == WALL_SECONDS):
        raise Finding("hang", "used up its seconds of CPU")
    if status == SANITIZER_STATUS or b"runtime error:" in err or b"ERROR: AddressSan" in err:
        raise Finding("crash", "sanitizer: " + summary_of(err))
    if status < 0:
        raise Finding("crash", signal.Signals(-status).name)
    return Result(command, status, out, err)


def summary_of(err):
    found = re.findall(rb"SUMMARY: .*|.*runtime error: .*", err)
    return found[-1].decode("utf-8", "replace") if found else "no summary"


def wrong(what):
    raise Finding("wrong", what)


def check_plain(data, what):
    """UTF-8 that does nothing to a terminal."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong("%s is not UTF-8: %s" % (what, error))
    bad = {c for c in text if c not in "\n\t" and unicodedata.category(c) in BAD}
    if bad:
        wrong("%s has %s" % (what, ascii(sorted(bad))))
    return text


def check_status(result, names=()):
    """A status that is documented; a failure that is explained, with the name of the file."""
    if result.status not in STATUSES:
        wrong("exit status %d" % result.status)
    said = check_plain(result.err.replace(b"\r", b"\n"), "stderr")
    if result.status in (2, 3) and not said.strip():
        wrong("exit status %d without a word" % result.status)
    if result.status == 3 and names and not any(name in said for name in names):
        wrong("no name of a file in: " + said.strip())


def check_csv(text, what):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    for row in rows:
        if len(row) != len(rows[0]):
            wrong("%s: rows of %d and %d cells" % (what, len(rows[0]), len(row)))
        for cell in row:
            if cell[:1] in ("=", "@", "+", "-") and not NUMBER.match(cell):
                wrong("%s: a formula: %s" % (what, cell))
    return rows


def no_constant(name):
    raise ValueError(name)


def check_format(data, kind, what="output"):
    """What is written in a format can be read as that. Return: it, as far as others need it."""
    if kind in ("png", "pdf"):
        if not data.startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[kind]):
            wrong("%s is no %s" % (what, kind))
        return data
    text = check_plain(data, what)
    try:
        if kind == "json":
            return json.loads(text, parse_constant=no_constant)
        if kind == "jsonl":
            return [json.loads(line, parse_constant=no_constant) for line in text.splitlines()]
        if kind == "csv":
            return check_csv(text, what)
        if kind == "svg":
            return tree.fromstring(data)
    except (ValueError, csv.Error, tree.ParseError) as error:
        wrong("%s is no %s: %s" % (what, kind, error))
    return text.splitlines()


def no_leftovers(folder, what):
    left = [name for name in os.listdir(folder) if name.startswith(".kshark-virt")]
    if left:
        wrong("%s left %s" % (what, left))


def wait_until(condition, seconds=60):
    """Return: has it come true?"""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.002)
    return False
