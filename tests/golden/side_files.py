# SPDX-License-Identifier: LGPL-2.1-or-later
"""Side files that ask for much memory: side_files.py COMMAND SAMPLES FOLDER

A sidecar, a recording.json, a table of hypercalls, a monitor's log and a host's samples of very many objects,
numbers or bytes. Each command ends with a message or a result, within 256 MB and 64 bytes for each record.
"""
import os
import resource
import shutil
import subprocess
import sys

COMMAND, SAMPLES, FOLDER = sys.argv[1:]
MIB = 1 << 20
MOST = 256 * 1000 * 1000
ROOM = 2 << 30		# what has gone wrong must not take the machine with it
VALUES = ("{}", "[]", "1", '""', "1.5", '{"a":1}', "[[[[[[[[{}]]]]]]]]", '{"a":{"a":{"a":{}}}}')

bad = runs = 0


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run(what, statuses, *arguments):
    """Its output."""
    global bad, runs
    runs += 1
    with open(os.path.join(FOLDER, "said"), "w+b") as said:
        child = subprocess.Popen((COMMAND,) + arguments, stdin=subprocess.DEVNULL, stdout=said,
                                 stderr=said, preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    problem = ""
    if child.returncode not in statuses:
        problem = "status %d: %s" % (child.returncode, text[:300].decode("utf-8", "replace"))
    elif usage.ru_maxrss * 1024 > MOST:
        problem = "takes %d MB" % (usage.ru_maxrss / 1024)
    elif child.returncode == 3 and not text:
        problem = "no message"
    if problem:
        bad += 1
        print("%s: %s" % (what, problem))
    return text


def very_many(value, key="very_many", size=16 * MIB - 100):
    """An object of one list, as long as a side file can be."""
    n = size // (len(value) + 1)
    return '{"%s":[' % key + ",".join([value] * n) + "]}"


def members(size=16 * MIB - 100):
    return "{" + ",".join('"%d":0' % i for i in range(size // 12)) + "}"


trace = os.path.join(FOLDER, "a.xen")
shutil.copy(os.path.join(SAMPLES, "pinned.xen"), trace)
host = os.path.join(FOLDER, "h.dat")
shutil.copy(os.path.join(SAMPLES, "kvm-hypercall.dat"), host)
folder = os.path.join(FOLDER, "recording")
os.mkdir(folder)
shutil.copy(trace, os.path.join(folder, "host.xen"))

for text in [very_many(value) for value in VALUES] + [very_many("{}", "domains"),
                                                      very_many("{}", "guests"), members()]:
    what = text[:30]
    for path, arguments in ((trace + ".meta.json", ("check", "-q", "--max", "steal.max=1s", trace)),
                            (host + ".meta.json", ("report", "-q", host)),
                            (os.path.join(folder, "recording.json"), ("report", "-q", folder)),
                            (os.path.join(FOLDER, "calls.json"),
                             ("dump", "-q", "--hypertrace=" + os.path.join(FOLDER, "calls.json"),
                              host))):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        run("%s: %s" % (os.path.basename(path), what), (0, 1, 2, 3, 4), *arguments)
        os.unlink(path)

# a log of QEMU's with a line that never ends changes nothing
qemu = os.path.join(SAMPLES, "recording-qemu")
log = os.path.join(FOLDER, "web.log")
ask = ("why", "-q", "--vcpu", "g1v0", "--from", "112.9380", "--to", "112.9395", "--monitor", log,
       os.path.join(qemu, "host.dat"))
shutil.copy(os.path.join(qemu, "web.log"), log)
wanted = run("log", (0,), *ask)
with open(log, "ab") as file:
    file.write(b"\n")
    for _ in range(400):
        file.write(b"x" * MIB)
if run("a line of 400 MB", (0,), *ask) != wanted:
    bad += 1
    print("a line of 400 MB changes what is said")
with open(log, "wb") as file:
    for _ in range(400):
        file.write(b"1@1.000000:e " + b"y" * 60000 + b"\n")
    for _ in range(10):
        file.write((b"1@1.000000:e " + b"y" * 60000 + b"\n") * 512)
run("long lines", (3,), *ask)

# samples of a host's counters: very many of them, and a line that does not end
samples = host + ".samples.csv"
ask = ("report", "--over-time=2", "-f", "csv", host)
nothing = run("no samples", (0,), *ask)
for what, title, line, n in (("samples", b"time_ns,forks", b"%d,\n", 1500000),
                             ("bad lines", b"time_ns", b"\n", 9000000),
                             ("a line", b"time_ns\n", b"1" * 1000, 300000)):
    with open(samples, "wb") as file:
        file.write(title + (b"\n" if b"\n" in line else b""))
        if b"%d" in line:
            file.writelines(line % (1000000000 + i) for i in range(n))
        else:
            file.write(line * n)
    if run("samples, very many: " + what, (0,), *ask).splitlines()[-2:] != nothing.splitlines()[-2:]:
        bad += 1
        print("samples, very many: %s: change what is not sampled" % what)
os.unlink(samples)
print("%d runs, %d complaints" % (runs, bad))
sys.exit(bad > 0)
