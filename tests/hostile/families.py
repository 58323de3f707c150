# SPDX-License-Identifier: LGPL-2.1-or-later
"""Families of attacks: each takes a case, and raises judge.Finding if something is wrong."""
import collections
import gzip
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import threading
import zlib

import damage
import fewer
import judge
import parts
from bad_names import as_json, bad_name
from judge import wrong

HZ = ("--cpu-hz", "1G", "--absolute")
XEN = ("pinned.xen", "hvm-exits.xen", "lost-records.xen", "dom0.xen", "sched-credit.xen")
DAT = ("kvm-nested.dat", "kvm-nested-g1.dat", "kvm-nested-shift.dat", "kvm-nested-linux-g1.dat")
# Traces with many kinds of records, for what looks at nothing else but one damaged trace.
MANY_DAT = DAT + ("host-disks.dat", "kvm-cgroups-web.dat", "waits-ipi-web.dat", "cases/exits.dat",
                  "cases/instances.dat", "cases/fastpath.dat", "hypertrace-packed.dat", "kvm-paused.dat",
                  "kvm-functions.dat", "kvm-functions-g1.dat")


class Skip(Exception):
    """A family that cannot be run here."""


class Samples:
    """Small parts of real traces; they are made but once."""
    def __init__(self, source, folder):
        self.source, self.folder, self.cache = source, folder, {}

    def raw(self, name):
        if name not in self.cache:
            with open(os.path.join(self.source, "samples", name), "rb") as file:
                self.cache[name] = file.read()
        return self.cache[name]

    def xen(self, rng, size=200000):
        """Whole windows of a xentrace file, some tens of KB. Return: data, offsets of windows."""
        data = self.raw(rng.choice(XEN))
        offsets, end = damage.windows(data[:size])
        offsets = offsets[:rng.choice((8, 20, 60))]
        end = damage.windows(data[:offsets[-1] + 12 + struct.unpack_from(
            "<I", data, offsets[-1] + 8)[0]])[1]
        return data[:end], offsets

    def dat(self, rng, names=DAT):
        """A trace.dat file: as recorded, of version 6, or not compressed."""
        name, kind = rng.choice(names), rng.choice(("", "6", "7", "7", "zlib"))
        key = name + kind
        if not kind or not shutil.which("trace-cmd"):
            return self.raw(name)
        if key not in self.cache:
            path = os.path.join(self.folder, key.replace("/", "-"))
            version = ["6"] if kind == "6" else ["7", "--compression", "none"]
            subprocess.run(["trace-cmd", "convert", "--file-version", *version, "-i",
                            os.path.join(self.source, "samples", name), "-o", path],
                           check=True, capture_output=True)
            if kind == "zlib":
                subprocess.run(["python3", os.path.join(
                    self.source, "tests/golden/trace_dat_zlib.py"), path, path], check=True)
            with open(path, "rb") as file:
                self.cache[key] = file.read()
        return self.cache[key]


    def perf(self, rng):
        """A perf.data file: compressed as recorded, or plain. Return: data, offsets of records."""
        data = self.raw("kvm-perf.data")
        if rng.random() < 0.8 and shutil.which("trace-cmd"):
            how = rng.choice(("", "pipe", "ids", "big"))
            key = "kvm-nested.data" + how
            path = os.path.join(self.folder, key)
            if key not in self.cache:
                subprocess.run(["trace-cmd", "convert", "--file-version", "6", "--compression", "none", "-i",
                                os.path.join(self.source, "samples/kvm-nested.dat"), "-o", path + ".dat"],
                               check=True, capture_output=True)
                subprocess.run(["python3", os.path.join(self.source, "tests/golden/perf_data.py"), path + ".dat",
                                path, *how.split()], check=True, capture_output=True)
                with open(path, "rb") as file:
                    self.cache[key] = file.read()
            data = self.cache[key]
        order = "<" if data[0] == ord("P") else ">"
        at = 16 if struct.unpack_from(order + "Q", data, 8)[0] == 16 else struct.unpack_from(order + "Q", data, 40)[0]
        offsets = []
        while at + 8 <= len(data) and len(offsets) < 2000:
            kind, size = struct.unpack_from(order + "IxxH", data, at)
            if size < 8:
                break
            offsets.append(at)
            # the formats come after their record
            at += size + (struct.unpack_from(order + "I", data, at + 8)[0] + 7 & ~7 if kind == 66 else 0)
        return data, offsets


# --- what several families judge ------------------------------------------------------------------

def records(rows):
    """The records of a dump as CSV, without what depends on others: vCPU and time."""
    return collections.Counter((row[0], row[2], row[5], row[7]) for row in rows[1:])


def dump(case, name, *options, **more):
    result = case.run("dump", "-q", "-f", "csv", *HZ, *options, name, names=[name], **more)
    return result, judge.check_format(result.out, "csv", "dump")


def check_lost(case, rows, prefix, what):
    """All records of an undamaged beginning are in the dump of the whole."""
    case.write("prefix.xen", prefix)
    missing = records(dump(case, "prefix.xen")[1]) - records(rows)
    if missing:
        raise judge.Finding("lost", "%s: %d records before the damage, such as %s" % (
            what, sum(missing.values()), next(iter(missing))))


def check_formats_agree(case, name, n_rows):
    """The three formats of a dump have the same records."""
    text = case.run("dump", "-q", *HZ, name)
    lines = judge.check_format(text.out, "text", "dump")
    objects = judge.check_format(case.run("dump", "-q", "-fjson", *HZ, name).out, "jsonl", "dump")
    if not len(lines) == len(objects) == n_rows:
        wrong("dump has %d records as CSV, %d as text, %d as JSON" % (
            n_rows, len(lines), len(objects)))


REPORTS = (
    ("text", "report"), ("text", "report", "--full"), ("json", "report", "-f", "json"), ("csv", "report", "-fcsv"),
    ("json", "report", "-fjson", "--worst", "5"), ("csv", "report", "-fcsv", "--worst=9"),
    ("json", "report", "--tracing", "-fjson"), ("text", "report", "--tracing"),
    ("svg", "plot", "-fsvg"), ("csv", "plot", "-fcsv"), ("svg", "plot", "-fsvg", "--by=pcpu"),
    ("json", "report", "-fjson", "--correct-skew"),
)
ROLLUP = "rollup", "--host=h", "--start-time=1795514400", "--interval=100000"
REPORTS_IN_ALL = REPORTS + (
    ("csv", *ROLLUP), ("csv", "top", "-fcsv", "--interval=100000"),
    ("json", "top", "-fjson", "--interval=100000"), ("text", "top", "-fopenmetrics"),
    ("json", "diff", "-fjson", "--at=20ms", "--above=0"), ("csv", "diff", "-fcsv", "--at=1ms"),
    ("text", "diff", "--at=20ms", "--above=0", "--most=1000"), ("text", "why", "--worst=3"),
    ("text", "why", "--worst=3", "--path"),
)


def finely(case, words):
    """In half of the cases, intervals as short as they may be, or shorter: a damaged file may last years."""
    interval = "--interval=" + case.rng.choice(("1ms", "100us", "1us", "2ns"))
    fine = case.rng.random() < 0.5
    return [interval if fine and word == "--interval=100000" else word for word in words]


def use(case, name, n=2):
    """Other commands on the same file."""
    for kind, *words in case.rng.sample(REPORTS_IN_ALL, n):
        more = ("-q",) if case.rng.random() < 0.5 else ()
        result = case.run(*finely(case, words), *more, name, names=[name])
        # diff has found something
        if result.status in (0, 1):
            judge.check_format(result.out, kind, words[0])


# --- damaged files --------------------------------------------------------------------------------

def xentrace(case):
    data, offsets = case.world.samples.xen(case.rng)
    bad, first, _ = damage.damage(case.rng, data, offsets)
    case.write("bad.xen", bad)
    result, rows = dump(case, "bad.xen")
    whole = [at for at in offsets + [len(data)] if at <= first]
    if whole and whole[-1]:
        if result.status:
            wrong("a sound beginning is refused")
        check_lost(case, rows, data[:whole[-1]], "dump")
    if result.status == 0:
        check_formats_agree(case, "bad.xen", len(rows) - 1)
    use(case, "bad.xen", 1)


def trace_dat(case):
    data = case.world.samples.dat(case.rng)
    bad, _, _ = damage.damage(case.rng, data, damage.sections(data), 10)
    case.write("bad.dat", bad)
    kind = case.rng.choice(("text", "json", "csv"))
    result = case.run("report", "-f", kind, "bad.dat", names=["bad.dat"])
    if result.status == 0:
        judge.check_format(result.out, kind, "report")
    words = case.rng.choice((["plot", "-fcsv"], ["report", "--worst=3"], ["check", "--affinity=g1=0"],
                             ["report", "--tracing"], [*ROLLUP, "-fclickhouse"],
                             ["diff", "--at=1793.5", "--above=0"], ["top", "--interval=100000"],
                             ["export", "-fcsv-tables", "-o", "tables"],
                             ["export", "-fperfetto", "-o", "pftrace"]))
    case.run(*finely(case, words), "bad.dat", names=["bad.dat"])
    if case.rng.random() < 0.2:
        case.run("align", "bad.dat", "bad.dat", names=["bad.dat"])


READERS = (("json", "report", "-qfjson"), ("csv", "report", "-qfcsv", "--full"), ("text", "report", "-q", "--worst=5"),
           ("csv", "dump", "-qfcsv"), ("json", "top", "-qfjson", "--interval=100000"), ("text", "why", "-q", "--worst=3"),
           ("text", "check", "-q", "--max", "steal=1%"), ("csv", "plot", "-qfcsv"),
           ("json", "report", "-qfjson", "--function=*"))
# Of a sound trace of one MB, each takes less than a tenth of it.
CPU_OF_READER = 10


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mutations(case):
    """One command, one damaged trace of any kind: a result or a message, and in a short time. For many cases."""
    data = case.world.samples.dat(case.rng, MANY_DAT)
    bad, _, _ = damage.damage(case.rng, data, damage.sections(data), 10)
    case.write("bad.dat", bad)
    kind, *words = case.rng.choice(READERS)
    before = cpu_of_children()
    result = case.run(*words, "bad.dat", names=["bad.dat"])
    used = cpu_of_children() - before
    if not case.world.sanitized and used > CPU_OF_READER:
        raise judge.Finding("hang", "%.1f s of CPU time for %d bytes" % (used, len(bad)))
    if result.status == 0:
        judge.check_format(result.out, kind, words[0])


def report_of(case, folder):
    report = judge.check_format(case.run("report", "-qfjson", folder, names=[folder]).out, "json", "report")
    # a guest that is a host as well has one, too
    reports = report.get("reports", [report])
    if not reports:
        wrong("no report of the host")
    report = reports[0]
    said = [warning["text"] for warning in report.pop("warnings", [])]
    return report, said


def guest_of_folder(case):
    """A recording whose guest's trace is damaged: its host is read in any case, and alone if the guest is skipped."""
    for folder, guest in (("alone", b""), ("r", b', { "name": "g.dat", "role": "guest", "guest": "web" }')):
        os.mkdir(case.path(folder))
        case.write(folder + "/h.dat", case.world.samples.raw("kvm-nested.dat"))
        case.write(folder + "/recording.json", b'{ "recording_version": 1, "hypervisor": "kvm", "state": "complete",'
                   b'"guests": [], "files": [ { "name": "h.dat", "role": "host" }%s ] }' % guest)
    data = case.world.samples.raw("kvm-nested-g1.dat")
    case.write("r/g.dat", damage.damage(case.rng, data, damage.sections(data), case.rng.choice((0, 10, 10)))[0])
    alone, _ = report_of(case, "alone")
    found, said = report_of(case, "r")
    alone.pop("file", None), found.pop("file", None)
    skipped = [text for text in said if text.startswith("r/g.dat: ") and "skipped" in text]
    if skipped and found != alone:
        wrong("a guest is skipped, and numbers are not those of its host alone")


def perf_data(case):
    data, offsets = case.world.samples.perf(case.rng)
    bad, _, _ = damage.damage(case.rng, data, offsets, 10)
    case.write("bad.data", bad)
    kind = case.rng.choice(("text", "json", "csv"))
    result = case.run("report", "-f", kind, "bad.data", names=["bad.data"])
    if result.status == 0:
        judge.check_format(result.out, kind, "report")
    use(case, "bad.data", 1)


# Where a trace in CTF has its sizes, times and numbers: the header and the context of a packet.
CTF_MARKS = (0, 4, 20, 24, 32, 40, 48, 56, 64, 68)


def ctf_metadata(case, folder):
    """Metadata that never ends, or nests without end, or is damaged."""
    path, how = os.path.join(folder, "metadata"), case.rng.randrange(6)
    text = case.read(path)
    if how < 2:
        case.write(path, damage.damage(case.rng, text)[0])
        return
    os.unlink(case.path(path))
    if how == 2:
        with open(case.path(path), "wb") as out:
            out.truncate(case.rng.choice((1 << 20, 64 << 20, (64 << 20) + 1, 1 << 40)))
    elif how == 3:
        case.rng.choice((lambda: os.symlink("/dev/zero", case.path(path)), lambda: os.mkfifo(case.path(path)),
                         lambda: os.mkdir(case.path(path)), lambda: os.symlink("metadata", case.path(path))))()
    elif how == 4:
        word = case.rng.choice((b"struct { ", b"env { a = ", b"((", b"/* ", b'"', b"typealias ", b"x[", b"variant {"))
        case.write(path, text + word * case.rng.choice((1, 1000, 100000)))
    else:
        # numbers and names that claim something else
        old, new = case.rng.choice(((b"size = 64", b"size = 18446744073709551615"), (b"size = 32", b"size = 0"),
                                    (b"align = 8", b"align = 3"), (b"freq = 1000000000", b"freq = 0"),
                                    (b"freq = 1000000000", b"freq = 18446744073709551615"),
                                    (b"offset = 1700000000000000000", b"offset = -9223372036854775808"),
                                    (b"[16]", b"[4294967295]"), (b"CTF 1.8", b"CTF 9.9"), (b"id = 0", b"id = 99999"),
                                    (b"byte_order = le", b"byte_order = be"), (b"sched", b"s\0\xff%n")))
        case.write(path, text.replace(old, new))


def ctf_stream(case, folder):
    """Packets that are cut, or claim other sizes and times."""
    names = sorted(entry.name for entry in os.scandir(case.path(folder))
                   if entry.is_file(follow_symlinks=False) and entry.name not in ("metadata", "index") and
                   entry.stat().st_size >= max(CTF_MARKS) + 8)
    # an attack before this one may have cut them
    if not names:
        return
    name = os.path.join(folder, case.rng.choice(names))
    data = case.read(name)
    if case.rng.random() < 0.3:
        case.write(name, data[:case.rng.randrange(len(data))])
    elif case.rng.random() < 0.5:
        data = bytearray(data)
        struct.pack_into("<Q", data, case.rng.choice((24, 32, 40, 48, 56)), case.rng.choice(
            (0, 1, 7, 8 * len(data) - 1, 8 * len(data) + 8, 1 << 32, 1 << 63, (1 << 64) - 1)))
        case.write(name, bytes(data))
    else:
        case.write(name, damage.damage(case.rng, data, CTF_MARKS)[0])


def ctf_folder(case, folder):
    """A folder that is no trace, or not only one."""
    how = case.rng.randrange(5)
    if how == 0:
        os.unlink(case.path(os.path.join(folder, "metadata")))
    elif how == 1:
        os.symlink(case.rng.choice(("/dev/zero", "/etc/passwd", "..", "metadata")),
                   case.path(os.path.join(folder, "link%d" % case.rng.randrange(1 << 30))))
    elif how == 2:
        os.mkfifo(case.path(os.path.join(folder, "fifo%d" % case.rng.randrange(1 << 30))))
    elif how == 3:
        deep = folder
        for _ in range(case.rng.choice((3, 100))):
            deep = os.path.join(deep, "d")
            os.makedirs(case.path(deep), exist_ok=True)
        case.write(os.path.join(deep, "metadata"), b"/* CTF 1.8 */\n")
    else:
        name = os.path.join(folder, case.rng.choice(("index", "x.dat", "recording.json", "data")))
        # LTTng has a folder of that name
        case.write(os.path.join(name, "data.idx") if os.path.isdir(case.path(name)) else name,
                   case.rng.randbytes(case.rng.choice((0, 1, 5000))))


def ctf(case):
    folder = case.rng.choice(("t", "t/kernel"))
    subprocess.run(["python3", os.path.join(case.world.source, "tests/golden/ctf_make.py"), case.path(folder)],
                   check=True, capture_output=True)
    if case.rng.random() < 0.3:
        # two traces in a folder
        shutil.copytree(case.path(folder), case.path("t/other"))
    for _ in range(case.rng.choice((1, 1, 2))):
        if os.path.isfile(case.path(os.path.join(folder, "metadata"))) and \
                not os.path.islink(case.path(os.path.join(folder, "metadata"))) and \
                os.path.getsize(case.path(os.path.join(folder, "metadata"))) < 1 << 20:
            case.rng.choice((ctf_metadata, ctf_stream, ctf_stream, ctf_folder))(case, folder)
    kind, *words = case.rng.choice((("json", "report", "-fjson"), ("text", "report", "--full"), ("csv", "report", "-fcsv"),
                                    ("text", "dump"), ("text", "view", "-n")))
    result = case.run(*words, "t", names=["t"], env={"TMPDIR": case.folder})
    if result.status == 0:
        judge.check_format(result.out, kind, words[0])
    # what does not end is not copied, and nothing is left
    if [name for name in os.listdir(case.folder) if name not in ("t", "stdout", "stderr")]:
        wrong("%s left %s" % (words[0], os.listdir(case.folder)))


def dat_parts(case):
    """A damaged trace.dat is cut up and put together."""
    data = case.world.samples.dat(case.rng)
    if case.rng.random() < 0.8:
        data = damage.damage(case.rng, data, damage.sections(data), 10)[0]
    case.write("t.dat", data)
    at = case.rng.choice(("10%", "50%", "90%", "1793.5", "0.2"))
    made = [case.run("split", "-q", how + at, "-o", name, "t.dat", names=["t.dat"]).status == 0
            for how, name in (("--to=", "a.dat"), ("--from=", "b.dat"))]
    if not all(made):
        judge.no_leftovers(case.folder, "split")
        return
    for name in ("a.dat", "b.dat"):
        result = case.run("report", "-q", "-fjson", name, names=[name])
        if result.status:
            wrong("%s, a part, cannot be read: %d" % (name, result.status))
        judge.check_format(result.out, "json", "report")
    if case.rng.random() < 0.5:
        bad = damage.damage(case.rng, case.read("a.dat.meta.json"))[0]
        case.write("a.dat.meta.json", bad)
        case.run("report", "-q", "a.dat", names=["a.dat"])
        case.run("merge", "-q", "-o", "m.dat", "b.dat", "a.dat", names=["a.dat", "b.dat"])
    elif case.run("merge", "-q", "-o", "m.dat", "b.dat", "a.dat").status:
        wrong("parts of a trace cannot be put together")
    judge.no_leftovers(case.folder, "split and merge")


def zstd(data, *words):
    """What zstd(1) makes of data, or has made until it fails."""
    return subprocess.run(["zstd", "-qc", *words], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


def unpacked_prefix(name, data):
    """What can be unpacked of the beginning of packed data."""
    if name.endswith("zst"):
        return zstd(data, "-d")
    try:
        return zlib.decompressobj(31).decompress(data)
    except zlib.error:
        return b""


def packed(case):
    data, offsets = case.world.samples.xen(case.rng)
    if shutil.which("zstd") and case.rng.random() < 0.5:
        # a small window makes small blocks
        name, good = "bad.zst", zstd(data, *case.rng.choice(([], ["--zstd=wlog=12"], ["-19"])))
    else:
        name, good = "bad.gz", gzip.compress(data, case.rng.choice((0, 1, 9)), mtime=0)
    bad, first, _ = damage.damage(case.rng, good, (0, 4, 10, len(good) - 8))
    case.write(name, bad)
    result, rows = dump(case, name)
    sound = unpacked_prefix(name, bad[:first])
    whole = [at for at in offsets if at <= len(sound)]
    if len(whole) > 1 and bad[:4] == good[:4]:
        if result.status:
            wrong("a sound beginning is refused")
        check_lost(case, rows, data[:whole[-1]], "dump")
    use(case, name, 1)


SIDECARS = (
    b'{ "cpu_khz": 2300000, "xen_version": "4.17.7", "scheduler": "credit2", "domains": [ { "id": 1,'
    b' "name": "web", "vcpus": [ { "id": 0, "hard_affinity": "2" } ] }, { "id": 0, "name": "x" } ] }',
    b'{ "cpu_khz": 2300000, "guests": [ { "name": "web", "pid": 7, "vcpus": [ { "id": 0, "tid": 1580,'
    b' "tsc_offset": "0xfffffff9e57d569a", "tsc_ratio": 281474976710656, "tsc_ratio_frac_bits": 48 },'
    b' { "id": 1, "tid": 1581, "tsc_offset": -5, "tsc_scale": 0.5 } ] } ] }',
    b'{ "alignment": { "host": "h.dat", "source": "causality", "unit": "ns", "offset": -5,'
    b' "interval": [ -9, 9 ], "drift_ppm": 0.1, "tids": [ 1, 2 ] }, "kept": 12345678901234567890 }',
)


def is_json(data):
    """Strictly so: what is written into something else stays something else."""
    try:
        return isinstance(json.loads(data.decode("utf-8")), dict)
    except ValueError:
        return False


def sidecar(case):
    data, _ = case.world.samples.xen(case.rng)
    case.write("t.xen", data)
    bad = damage.damage(case.rng, case.rng.choice(SIDECARS))[0]
    case.write("t.xen.meta.json", bad)
    result = case.run("report", "-fjson", "t.xen", names=["t.xen"])
    if result.status:
        wrong("a damaged sidecar keeps a sound trace from being read: status %d" % result.status)
    judge.check_format(result.out, "json", "report")
    case.write("g.dat", case.world.samples.raw("kvm-nested-g1.dat"))
    case.write("h.dat", case.world.samples.raw("kvm-nested.dat"))
    case.write("g.dat.meta.json", bad)
    if case.rng.random() < 0.5:
        case.write("h.dat.meta.json", bad)
    result = case.run("report", "-q", "h.dat", "g.dat", names=["h.dat", "g.dat"])
    if result.status:
        wrong("a damaged sidecar keeps a sound pair from being read: status %d" % result.status)
    result = case.run("align", "--write", "h.dat", "g.dat", names=["g.dat", "h.dat"])
    after = case.read("g.dat.meta.json")
    if result.status and after != bad:
        wrong("align has failed, and changed the sidecar")
    if not result.status and is_json(bad):
        judge.check_format(after, "json", "the sidecar")
    judge.no_leftovers(case.folder, "align --write")


MONITOR_WORDS = (b"0x0", b"(nil)", b"-1", b"18446744073709551615", b"99999999999999999999", b"name ''", b"@", b"\\xff")


def monitors(case):
    """The log of a monitor, damaged or with odd words, beside the sound trace of its host."""
    data = case.world.samples.raw("recording-qemu/web.log")
    if case.rng.random() < 0.5:
        data = damage.damage(case.rng, data)[0]
    else:
        lines = data.split(b"\n")
        for _ in range(case.rng.choice((1, 10, 300))):
            at = case.rng.randrange(len(lines))
            words = lines[at].split(b" ")
            words[case.rng.randrange(len(words))] = case.rng.choice(MONITOR_WORDS)
            lines[at] = b" ".join(words)
        data = b"\n".join(lines)
    case.write("q.log", data)
    case.write("h.dat", case.world.samples.raw("recording-qemu/host.dat"))
    if case.rng.random() < 0.5:
        case.write("h.dat.meta.json", case.world.samples.raw("recording-qemu/host.dat.meta.json"))
    kind = case.rng.choice(("json", "csv", "text"))
    result = case.run("report", "-q", "--devices", "--monitor=q.log", "-f", kind, "h.dat", names=["q.log", "h.dat"])
    if result.status:
        return
    printed = judge.check_format(result.out, kind, "report")
    if kind != "json":
        return
    for monitor in printed["monitors"]:
        if sum(row["total_ns"] for row in monitor["vmm"]) != monitor["vmm_ns"]:
            wrong("parts of the time in the monitor are not all of it")


# --- folders --------------------------------------------------------------------------------------

FOLDER_USERS = REPORTS + (("text", "align"), ("text", "align", "--write"), ("text", "view", "-n"),
                          ("csv", "check", "-fcsv", "--affinity=g1=9"), ("text", "dump"),
                          ("text", "compare", "r"))
FOLDER_NAMES = ("h.dat", "g.dat", "t.xen", "../outside.dat", "/etc/passwd", "link.dat", "fifo.dat",
                "folder.dat", "missing.dat", "recording.json", ".", "..", "", "a" * 300)


def recording_of(case):
    """A recording.json in which something may be wrong, before it is damaged."""
    names = case.rng.sample(FOLDER_NAMES[:3], 2) if case.rng.random() < 0.5 else \
        case.rng.choices(FOLDER_NAMES, k=case.rng.randrange(5))
    files = [b'{ "name": %s, "role": "%s", "guest": %s, "lost": %d }' % (
        as_json(os.fsencode(name) if case.rng.random() < 0.9 else bad_name(case.rng)),
        b"guest" if i else case.rng.choice((b"host", b"host", b"host", b"guest", b"x")),
        as_json(bad_name(case.rng)), case.rng.choice((0, -5, 1 << 63))) for i, name in enumerate(names)]
    text = b'{ "recording_version": %d, "hypervisor": "%s", "state": "%s", "reason": %s,' % (
        case.rng.choice((1, 1, 1, 1, 2, -1)), case.rng.choice((b"kvm", b"kvm", b"xen", b"x")),
        case.rng.choice((b"recording", b"complete", b"stopped", b"failed")), as_json(bad_name(case.rng)))
    return text + b'"files": [ %s ], "guests": [ { "name": %s, "why": %s } ] }' % (
        b", ".join(files), as_json(bad_name(case.rng)), as_json(bad_name(case.rng)))


def make_folder(case):
    """A folder with all that can go wrong with names. Return: what may not be changed."""
    os.mkdir(case.path("r"))
    kept = {"r/h.dat": case.world.samples.raw("kvm-nested.dat"),
            "r/g.dat": case.world.samples.raw("kvm-nested-g1.dat"),
            "r/t.xen": case.world.samples.xen(case.rng)[0], "outside.dat": b"secret"}
    for name, data in kept.items():
        case.write(name, data)
    os.symlink("../outside.dat", case.path("r/link.dat"))
    os.mkfifo(case.path("r/fifo.dat"))
    os.mkdir(case.path("r/folder.dat"))
    return kept


def recording(case):
    """The folder of a recording, which nobody has to have written with good intent."""
    kept = make_folder(case)
    how = case.rng.randrange(8)
    text = recording_of(case)
    if how == 0:
        os.symlink(case.rng.choice(("t.xen", "fifo.dat", "recording.json", "/dev/zero")),
                   case.path("r/recording.json"))
    elif how == 1:
        with open(case.path("r/recording.json"), "wb") as out:
            out.truncate(case.rng.choice((16 << 20, (16 << 20) + 1, 1 << 40)))
    elif how == 2:
        case.write("r/recording.json", b"[" * 100000 + text)
    elif how < 5:
        case.write("r/recording.json", damage.damage(case.rng, text)[0])
    else:
        case.write("r/recording.json", text)
    kind, *words = case.rng.choice(FOLDER_USERS)
    result = case.run(*words, case.rng.choice(("r", "r/", "r/recording.json")),
                      env={"KERNELSHARK": "true"}, names=[])
    # of a guest that is a host as well, report has another object
    if result.status == 0 and kind != "text" and not result.out.count(b"\n}\n") > 1:
        judge.check_format(result.out, kind, words[0])
    if b"secret" in result.out + result.err:
        wrong("what is outside of the folder was read")
    # whatever it prints: an output replaces no existing file
    for name in case.rng.sample(("h.dat", "g.dat", "t.xen"), 1 if how > 4 else 0):
        refused = case.run("report", "-q", "-o", "r/" + name, "r", names=[]).status
        if b'"%s"' % name.encode() in text and case.read("r/" + name) != kept["r/" + name]:
            wrong("%s was overwritten, with status %d" % (name, refused))
    if case.read("outside.dat") != kept["outside.dat"]:
        wrong("outside.dat was changed")
    judge.no_leftovers(case.folder, words[0])


# --- command lines --------------------------------------------------------------------------------

TIMES = ("0", "1", "-1", "0.001", "5ms", "1us", "17ns", "1.5", "tsc:0", "tsc:1", "1e9", "",
         "9223372036s", "9223372037s", "-9223372036s", "tsc:18446744073709551615", "0.0000000001")
NUMBERS = ("0", "1", "2", "10", "-1", "65535", "65536", "99999999999", "", "x", "0x10", "1.5", "300")
VCPUS = ("d0", "d1v0", "d0v0,d1", "idle", "d?v?", "d?", "g1", "d32767v65535", "d", "", ",", "d1v0,")
TEXTS = ("x", "", "%s%n", "\x1b[31m", "a" * 5000, "\u202e", "=1+1", "*", "[", "-", "--", "\udcff")
CHOICES = {
    "format": ("text", "csv", "json", "svg", "png", "pdf", "xml", "", "clickhouse", "sqlite",
               "csv-tables", "perfetto", "openmetrics", "junit", "tap", "folded", "speedscope"),
    "host": ("h", "", "%s", "\x1b[31m"), "interval": ("1s", "100ms", "1ms", "10us", "1ns", "100000", "0", "-1", "x"),
    "start-time": ("1795514400", "2026-11-24T10:00:00.5Z", "0", "4294967295", "-1", "x", "9e9"),
    "by": ("vcpu", "pcpu", "x"), "kind": ("exit", "steal,wake", "lost,irq,migration", "x", ","),
    "source": ("auto", "trace-cmd", "kvm_write_tsc_offset", "sidecar", "tsc", "causality", "x"),
    "statistic": ("mean", "p50,p99.9", "stddev", "p101", "hmean,mean"),
    "percentiles": ("nearest", "linear", "x"), "confidence": ("95", "0", "100", "99.9", "-5", "x"),
    "max-input": ("1", "1K", "64G", "0", "x"), "cpu-hz": ("1G", "2.4G", "1", "0", "99G", "x", "2,4G"),
    "event": ("*", "runstate*", "0x00021001", "nothing", "", "["), "machine": ("d1", "g1", "x"),
    "affinity": ("d0=0", "d1v0=2,3", "idle=0", "d?v?=0-65535", "d1", "=", "d0=9-1"),
    "affinity-file": ("list", "t.xen", "missing", "."), "values": ("v.csv", "t.xen", "missing", "."),
    "output": ("out", "missing/out", ".", "t.xen"), "plot": ("p.svg", "p.png", "p.pdf", "p", "."),
    "session": ("missing", "t.xen"), "baseline": ("a", "t.xen", "none"), "runs": ("a,b", "t.xen", ""),
    "metric": ("*", "time", "x?", ""), "pcpu": ("0", "0,2-3", "0-65535", "65536", "-", "3-1", ""),
    "resamples": ("10", "100", "0", "-1", "x"), "windows": ("1", "2", "10", "0", "999", "x"),
    "record-cost": ("time", "100", "-1", "x"), "width": ("1", "300", "0", "40000", "x"),
    "height": ("1", "300", "0", "40000", "x"), "scale": ("1", "2", "0", "0.5", "1000"),
}
ARGUMENTS = {"from": TIMES, "to": TIMES, "above": TIMES, "at": TIMES, "vcpu": VCPUS, "title": TEXTS}
FORMATS = {"dump": ("csv", "json"), "report": ("csv", "json"), "plot": ("csv", "svg"),
           "check": ("csv",), "align": ("json",), "compare": ("csv", "json"), "view": (),
           "diff": ("csv", "json"), "rollup": ("csv",), "top": ("csv", "json"), "export": (),
           "query": ("csv", "json"), "why": ("json",)}
QUESTIONS = ("SELECT * FROM interval", "SELECT name FROM machine", "SELECT m.*, v.* FROM moment m, vcpu v",
             "DELETE FROM vcpu", "ATTACH 'out' AS a", "SELECT count(*) FROM exit", ".tables", ".schema", "SELECT nme FROM vcpu",
             "SELECT x'00' AS a, 9e999, '=1', '' AS b", "")


def options_of(case, command):
    """Names of the options of a command, and whether they take arguments, as --help has them."""
    key = "options of " + command
    if key not in case.world.samples.cache:
        found = []
        for line in case.run(command, "--help").out.decode().splitlines():
            words = line.split()
            if line.startswith("  -") and words[0].startswith("-"):
                name = words[1] if words[0].endswith(",") else words[0]
                rest = words[words.index(name) + 1:]
                found.append((name[2:], bool(rest) and rest[0].isupper()))
        case.world.samples.cache[key] = found
    return case.world.samples.cache[key]


def option_words(case, command):
    words = []
    for name, takes in case.rng.sample(options_of(case, command), case.rng.randrange(0, 6)):
        pool = CHOICES.get(name, ARGUMENTS.get(name, NUMBERS))
        # what follows a file never ends by itself
        if name in ("help", "follow"):
            continue
        words.append("--%s=%s" % (name, case.rng.choice(pool)) if takes else "--" + name)
    if case.rng.random() < 0.1:
        words.insert(0, case.rng.choice(("--", "-x", "--form", "--q=1", "-", "")))
    return words


def options(case):
    """Any options on files that are sound: what has been there stays if it fails."""
    command = case.rng.choice(list(FORMATS))
    case.write("t.xen", case.world.samples.xen(case.rng)[0])
    case.write("list", b"d0=0-3\nd1v0=1\n")
    case.write("v.csv", b"run,metric,value\n" + b"".join(
        b"%s,time,%d\n" % (run, 100 + i * i % 7) for run in (b"a", b"b") for i in range(9)))
    case.write("out", b"old")
    words = option_words(case, command)
    if command == "view":
        words.append("--dry-run")
    files = case.rng.choice((["t.xen"], ["t.xen", "t.xen"], [], ["missing"]))
    if command == "query":
        files.append(case.rng.choice(QUESTIONS))
    before = case.read("t.xen")
    result = case.run(command, *words, *files)
    judge.no_leftovers(case.folder, command)
    if case.read("t.xen") != before:
        wrong("the trace has been written to")
    if result.status in (2, 3) and case.read("out") != b"old":
        wrong("it failed, and what was there before is lost")
    given = [word.partition("=")[2] for word in words if word.startswith("--format=")]
    if given and given[-1] in FORMATS[command] and result.status == 0 and \
            "--list-events" not in words:
        kind = "jsonl" if command == "dump" and given[-1] == "json" else given[-1]
        to_file = any(word.startswith("--output=") for word in words)
        judge.check_format(case.read("out") if to_file else result.out, kind, command)
    elif not any(word in ("--format=png", "--format=pdf") for word in words):
        judge.check_plain(result.out, "stdout")


# --- no memory, no room ---------------------------------------------------------------------------

def memory_input(case):
    """A command with little to do. Return: words."""
    case.write("t.xen", case.world.samples.xen(case.rng, 60000)[0])
    case.write("t.xen.meta.json", SIDECARS[0])
    case.write("h.dat", case.world.samples.raw("kvm-nested.dat"))
    case.write("g.dat", case.world.samples.raw("kvm-nested-g1.dat"))
    case.write("v.csv", b"run,metric,value\n" + b"a,x,1\na,x,2\nb,x,3\nb,x,5\n" * 3)
    return case.rng.choice((
        ("dump", "-fcsv", "t.xen"), ("dump", "-fjson", "t.xen"), ("report", "-fjson", "t.xen"),
        ("report", "-fcsv", "t.xen"), ("report", "--worst=5", "-fjson", "t.xen"),
        ("report", "--tracing", "t.xen"), ("plot", "-fcsv", "t.xen"),
        (*ROLLUP, "t.xen"), (*ROLLUP, "-fclickhouse", "t.xen"),
        ("diff", "--above=0", "t.xen", "h.dat"), ("top", "-fjson", "--interval=100000", "t.xen"),
        ("top", "-fcsv", "--interval=20ms", "--hold=1ms", "t.xen"),
        ("export", "-fsqlite", "-o", "db", "h.dat", "g.dat"),
        ("export", "-fperfetto", "-o", "pftrace", "h.dat", "g.dat"),
        ("check", "--affinity=d0=0", "--affinity=d0v0=1", "t.xen"),
        ("compare", "--values=v.csv", "--resamples=10"), ("align", "t.xen", "g.dat")))


def check_short(case, words, reference, result):
    """With less memory there is the same output, or a message."""
    if result.status == reference.status:
        if result.out != reference.out:
            wrong("%s: other output with the same exit status" % words[0])
    elif result.status not in (2, 3):
        wrong("%s: exit status %d instead of %d or 3" % (
            words[0], result.status, reference.status))


def allocations(case):
    """Some allocation fails, once or from then on."""
    if case.world.sanitized:
        raise Skip("the address sanitizer has an allocator of its own")
    library = os.path.join(case.world.temporary, "no_memory.so")
    if not os.path.exists(library):
        if not shutil.which("cc"):
            raise Skip("there is no compiler")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(
            os.path.dirname(__file__), "no_memory.c"), "-ldl"], check=True)
    words = memory_input(case)
    reference = case.run(*words)
    env = {"LD_PRELOAD": library, "NO_MEMORY_TIMES": case.rng.choice(("1", "1", "3", "1000000")),
           "NO_MEMORY_AT": str(int(10 ** case.rng.uniform(0, 4)))}
    check_short(case, words, reference, case.run(*words, env=env))


def memory_limits(case):
    if case.world.sanitized:
        raise Skip("the address sanitizer needs more than any limit")
    words = memory_input(case)
    reference = case.run(*words)
    memory = int(2 ** case.rng.uniform(24, 28))
    try:
        result = case.run(*words, memory=memory)
    except judge.Finding as finding:
        # the loader of shared libraries says that itself, with a status of its own
        if "exit status 127" in str(finding):
            return
        raise
    check_short(case, words, reference, result)


def full_disks(case):
    data, _ = case.world.samples.xen(case.rng)
    case.write("t.xen", data)
    kind, *words = case.rng.choice(REPORTS + (("csv", "dump", "-fcsv"), ("jsonl", "dump", "-fjson")))
    reference = case.run(*words, "-q", "t.xen")
    how = case.rng.randrange(3)
    if how == 0:
        with open("/dev/full", "wb") as full:
            result = case.run(*words, "-q", "t.xen", stdout=full)
    elif how == 1:
        result = case.run(*words, "-q", "-o", "/dev/full", "t.xen")
    else:
        case.write("out", b"old")
        size = case.rng.randrange(max(1, len(reference.out)))
        # messages need some room, too
        if size < 4096:
            size = min(4096, len(reference.out) - 1)
        result = case.run(*words, "-q", "-o", "out", "t.xen", size=size)
        if case.read("out") != b"old" and len(reference.out) > size:
            wrong("what was there before is lost")
        judge.no_leftovers(case.folder, "a full disk")
        if len(reference.out) <= size:
            return
    if result.status != 3:
        wrong("%s: exit status %d on a full disk" % (words[0], result.status))


# --- signals, descriptors, files that are none ----------------------------------------------------

def kills(case):
    """The old output or the new one, and nothing else is left."""
    data, _ = case.world.samples.xen(case.rng)
    packed_data = gzip.compress(data)
    case.write("t.gz", packed_data)
    os.mkdir(case.path("tmp"))
    words = case.rng.choice((("dump", "-fcsv"), ("report", "-fjson"), ("plot", "-fsvg")))
    env = {"TMPDIR": case.path("tmp")}
    case.run(*words, "-q", "-o", "new", "t.gz", env=env)
    case.write("out", b"old")
    command, process = case.start([*words, "-q", "-o", "out", "t.gz"], env=env)
    how = case.rng.choice((signal.SIGTERM, signal.SIGTERM, signal.SIGHUP, signal.SIGINT,
                           signal.SIGKILL))
    if case.rng.random() < 0.6:
        judge.wait_until(lambda: process.poll() is not None or any(
            name.startswith(".kshark-virt") for name in os.listdir(case.folder)))
    else:
        threading.Event().wait(case.rng.uniform(0, 0.3))
    if process.poll() is None:
        process.send_signal(how)
    status = judge.wait(process)
    if status not in (0, -how):
        wrong("ended with %d after signal %d" % (status, how))
    if case.read("out") not in (b"old", case.read("new")):
        wrong("neither the old output nor the new one")
    if status == 0 and case.read("out") == b"old":
        wrong("exit status 0 and no output")
    if how != signal.SIGKILL:
        judge.no_leftovers(case.folder, "signal %d" % how)
    if os.listdir(case.path("tmp")):
        wrong("left in TMPDIR: %s" % os.listdir(case.path("tmp")))


def descriptors(case):
    """Standard descriptors are closed: what is written to a file is the same, and has no messages."""
    data, offsets = case.world.samples.xen(case.rng)
    case.write("t.xen", data[:-case.rng.randrange(1, 8)])
    kind, *words = case.rng.choice(REPORTS + (("csv", "dump", "-fcsv"),))
    reference = case.run(*words, "-o", "good", "t.xen")
    closed = case.rng.choice(((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)))
    command, process = case.start([*words, "-o", "out", "t.xen"], closed=closed)
    result = judge.finish(process, command, case.folder)
    if result.status != reference.status or case.read("out") != case.read("good"):
        wrong("without descriptors %s: status %d, other output" % (closed, result.status))


def devices(case):
    """What is no file, or has no end."""
    data, _ = case.world.samples.xen(case.rng, 60000)
    os.mkfifo(case.path("fifo"))
    case.write("t.xen", data)
    case.write("empty", b"")
    os.mkdir(case.path("folder"))
    fed = damage.damage(case.rng, data)[0] if case.rng.random() < 0.5 else data
    what = case.rng.choice(("fifo", "fifo", "/dev/zero", "/dev/null", "/dev/full", "folder", "empty",
                            "/proc/self/mem", "-", "/dev/urandom"))
    words = case.rng.choice((
        ["dump", "-fcsv", what], ["report", "-fjson", what], ["plot", "-fcsv", what],
        ["report", what, what], ["align", what, "t.xen"], ["align", "t.xen", what],
        ["compare", "--values", what], ["check", "--affinity-file", what, "t.xen"],
        ["view", "--dry-run", what], ["compare", what, "t.xen"], ["diff", what, "t.xen"],
        ["diff", "t.xen", what], [*ROLLUP, what], ["export", "-fsqlite", "-o", "db", what],
        ["top", what]))
    over = threading.Event()
    feeder = threading.Thread(target=feed, args=(case.path("fifo"), fed, over), daemon=True)
    if "fifo" in words:
        feeder.start()
    with open(case.path("empty"), "rb") as nothing:
        result = case.run(*words, "--max-input=1M" if words[0] != "view" else "--no-combos",
                          stdin=nothing, env={"TMPDIR": case.folder})
    drain(case.path("fifo"), feeder, over)
    if what not in ("fifo",) and result.status == 0 and words[0] in ("dump", "report", "plot", "rollup", "export", "top"):
        wrong("%s: taken for a trace" % what)


def feed(path, data, over):
    """Each reader that opens a FIFO gets the same, as often as it is opened."""
    while not over.is_set():
        try:
            with open(path, "wb") as fifo:
                fifo.write(data)
        except BrokenPipeError:
            pass
        # a reader of all must have seen the end before it begins again
        over.wait(0.05)


def drain(path, feeder, over):
    """Let a feeder end that nobody reads from."""
    over.set()
    while feeder.is_alive():
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            while os.read(fd, 65536):
                pass
        except BlockingIOError:
            pass
        feeder.join(0.02)
        os.close(fd)


def changes(case):
    """A file is cut or written anew while it is dumped into a pipe."""
    data, _ = case.world.samples.xen(case.rng, 400000)
    data = (data * (1 + 400000 // len(data)))[:400000]
    case.write("t.xen", data)
    rows = dump(case, "t.xen")[1]
    command, process = case.start(["dump", "-fcsv", *HZ, "t.xen"], stdout=subprocess.PIPE)
    head = process.stdout.read(1000)
    how = case.rng.choice(("cut", "empty", "anew", "longer", "gone"))
    if how in ("cut", "empty"):
        os.truncate(case.path("t.xen"), case.rng.randrange(len(data)) if how == "cut" else 0)
    elif how == "anew":
        case.write("t.xen", damage.damage(case.rng, data)[0])
    elif how == "longer":
        with open(case.path("t.xen"), "ab") as out:
            out.write(data[:5000])
    else:
        os.unlink(case.path("t.xen"))
    out = head + process.stdout.read()
    result = judge.finish(process, command, case.folder)
    judge.check_status(result, ["t.xen"])
    seen = judge.check_format(out, "csv", "dump") if out else [[]]
    if how != "anew" and records(seen) - records(rows):
        wrong("%s: records that were not there" % how)
    if result.status == 0 and how in ("longer", "gone") and len(seen) != len(rows):
        wrong("%s: %d records of %d" % (how, len(seen), len(rows)))


# --- what is still being written ------------------------------------------------------------------

def pieces(case, data):
    """Whatever a pipe may give at once."""
    at, most = 0, case.rng.choice((7, 500, 5000, 70000))
    while at < len(data):
        size = case.rng.randrange(1, most + 1)
        yield data[at:at + size]
        at += size


def write_all(out, parts, wait):
    """Into a pipe whose reader may have had enough; now and then, nothing comes for a while."""
    try:
        for n, part in enumerate(parts):
            out.write(part)
            out.flush()
            if wait and n % 50 == 0:
                threading.Event().wait(0.01)
        out.close()
    except BrokenPipeError:
        pass


def pipes(case):
    """In which pieces it comes, and how slowly, makes no difference; nor is anything half written."""
    data, offsets = case.world.samples.xen(case.rng)
    if case.rng.random() < 0.7:
        data = damage.damage(case.rng, data, offsets)[0]
    case.write("t.xen", data)
    case.write("out", b"old")
    kind = case.rng.choice(("csv", "json", "openmetrics", "text"))
    # live JSON is a document per line
    read_as = {"openmetrics": "text", "json": "jsonl"}.get(kind, kind)
    words = ["top", "-f" + kind, "--interval=20ms", "--cpu-hz=1G",
             "--hold=" + case.rng.choice(("0", "1ms", "50ms", "100"))]
    with open(case.path("t.xen"), "rb") as file:
        whole = case.run(*words, "-", stdin=file, names=["standard input"])
    if whole.status == 0:
        judge.check_format(whole.out, read_as, "top")
    how = case.rng.choice(("all", "all", "limit", "kill"))
    more = ["--limit=" + case.rng.choice(("1", "1000", "1M")), "-o", "out"] if how == "limit" else \
        ["-o", "out"] if how == "kill" else []
    command, process = case.start([*words, *more, "-"], stdin=subprocess.PIPE)
    feeder = threading.Thread(target=write_all, daemon=True, args=(
        process.stdin, list(pieces(case, data)), case.rng.random() < 0.3))
    feeder.start()
    if how == "kill":
        threading.Event().wait(case.rng.uniform(0, 0.2))
        process.kill()
        process.wait()
        feeder.join(10)
        # with counters, there may be whole ones already
        if case.read("out") != b"old" and not case.read("out").endswith(b"# EOF\n") and \
                case.read("out") != whole.out:
            wrong("half of an output has its name")
        return
    result = judge.finish(process, command, case.folder)
    feeder.join(10)
    judge.check_status(result, ["standard input"])
    if how == "all" and (result.status, result.out) != (whole.status, whole.out):
        wrong("a pipe gives status %d and other output than %d at once" % (
            result.status, whole.status))
    if how == "limit" and result.status == 0:
        judge.check_format(case.read("out"), read_as, "top")


# --- names ----------------------------------------------------------------------------------------

XEN_NAMES = REPORTS_IN_ALL + (
    ("text", "report", "--worst=5"), ("text", "dump"), ("csv", "dump", "-fcsv"),
    ("jsonl", "dump", "-fjson"), ("text", "check", "--affinity=d0=9"), ("pdf", "plot", "-fpdf"),
    ("csv", "check", "-fcsv", "--affinity=d0=9"), ("png", "plot", "-fpng", "--width=300"))


def names(case):
    """Names that want to do harm reach all outputs, and do none."""
    how = case.rng.randrange(4)
    if how == 0:
        case.write("t.xen", case.world.samples.xen(case.rng)[0])
        case.write("t.xen.meta.json", b'{ "domains": [ %s ] }' % b", ".join(
            b'{ "id": %d, "name": %s }' % (i, as_json(bad_name(case.rng))) for i in range(4)))
        kind, *words = case.rng.choice(XEN_NAMES)
        words.append("t.xen")
    elif how == 1:
        name = os.fsdecode(bad_name(case.rng).replace(b"/", b"_") + b".xen")
        case.write(name, damage.damage(case.rng, case.world.samples.xen(case.rng)[0])[0])
        kind, *words = case.rng.choice(XEN_NAMES)
        words += ["--", name]
    elif how == 2:
        data = case.world.samples.dat(case.rng)
        for old in (b"qemu-system-x86", b"kworker", b"swapper", b"ksoftirqd", b"rcu_preempt"):
            data = data.replace(old, bad_name(case.rng, len(old)))
        case.write("t.dat", data)
        kind, *words = case.rng.choice(REPORTS[:9])
        words.append("t.dat")
    else:
        lines = [b"run,metric,value"] + [b"%s,%s,%d" % (cell(run), cell(metric), i * i) for run in (
            bad_name(case.rng), bad_name(case.rng)) for metric in (bad_name(case.rng), b"time")
            for i in range(7)]
        case.write("v.csv", b"\n".join(lines) + b"\n")
        kind, *words = case.rng.choice((("text", "compare"), ("json", "compare", "-fjson"),
                                        ("csv", "compare", "-fcsv"), ("svg", "compare")))
        words += ["--values=v.csv", "--resamples=20"]
        if kind == "svg":
            words.append("--plot=p.svg")
    result = case.run(*words)
    if result.status in (0, 1, 4):
        plotted = "--plot=p.svg" in words
        judge.check_format(case.read("p.svg") if plotted else result.out, kind, words[0])


def cell(name):
    return b'"' + name.replace(b'"', b'""').replace(b"\r", b"").replace(b"\n", b"") + b'"'


ALL = {family.__name__: family for family in (
    xentrace, trace_dat, mutations, guest_of_folder, perf_data, ctf, dat_parts, packed, sidecar, monitors, recording, options, allocations, memory_limits, full_disks, kills,
    descriptors, devices, changes, pipes, names, parts.parts, parts.part_sidecars, parts.part_kills,
    parts.windows, fewer.fewer)}
