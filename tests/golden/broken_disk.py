# SPDX-License-Identifier: LGPL-2.1-or-later
"""A disk that fails at each use of it, and a loss of power there: broken_disk.py COMMAND LIBRARY SAMPLES FOLDER

Each command that writes runs once as it is, and then once for each of its first reads, writes, fsyncs,
renames and unlinks, which fails, or is where the process is killed or the machine loses its power. What is there
afterwards is what was there before or what the whole run makes, and never a part of it; the exit status says which.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys

COMMAND, LIBRARY, SAMPLES, FOLDER = sys.argv[1:]
EIO, ENOSPC = "5", "28"
INPUTS = os.path.join(FOLDER, "inputs")
# What a command writes goes by way of one place; tables are many files.
MOST = {"read": 3, "write": 3, "fsync": 3, "rename": 2, "unlink": 2, "exit": 1}
PAIRS = "trace", "pair", "again"
MOST_OF_PAIRS = {**MOST, "write": 9, "fsync": 6, "rename": 4}
MOST_OF_TABLES = {"read": 1, "write": 3, "fsync": 24, "rename": 12, "unlink": 2, "exit": 1}
HOWS = {"read": ("kill", EIO), "write": ("kill", ENOSPC), "exit": ("power",)}
FOLDERS = "tables", "parts"
CACHED = "window", "guests"
MOST_OF = {"tables": MOST_OF_TABLES, "parts": {**MOST_OF_PAIRS, "fsync": 9, "rename": 6},
           # its folder is in others
           **dict.fromkeys(CACHED, {**MOST, "exit": 0}), **dict.fromkeys(PAIRS, MOST_OF_PAIRS)}

# name, arguments, what is made; {t}: the folder with the traces, which is made anew each time. A
# "trace" has a sidecar; a "pair" replaces both, and "again" is a pair whose trace has the same size. Of
# "parts", each file is whole for itself.
CASES = (
    ("csv-tables", "export -qf csv-tables -o {t}/out {t}/a.xen", "tables"),
    ("sqlite", "export -qf sqlite -o {t}/out {t}/a.xen", "file"),
    ("report", "report -qf json -o {t}/out {t}/a.xen", "file"),
    ("plot", "plot -qf svg -o {t}/out {t}/a.xen", "file"),
    ("align", "align -q --write {t}/h.dat {t}/g.dat", "sidecar"),
    ("align a log", "align -q --write {t}/m.dat {t}/m.log", "sidecar"),
    ("perfetto", "export -qf perfetto -o {t}/out {t}/a.xen", "file"),
    ("folded", "export -qf folded -o {t}/out {t}/h.dat", "file"),
    ("html", "report -qf html -o {t}/out {t}/a.xen", "file"),
    ("png", "plot -qf png -o {t}/out {t}/a.xen", "file"),
    ("dump", "dump -qf csv -o {t}/out {t}/a.xen", "file"),
    ("why", "why -qf json --worst 2 -o {t}/out {t}/a.xen", "file"),
    ("compare", "compare -qf csv -o {t}/out {t}/a.xen {t}/b.xen", "file"),
    ("plot of compare", "compare -qf csv -o {t}/out/csv --plot {t}/out/out.svg {t}/a.xen {t}/b.xen", "parts"),
    ("diff", "diff -qf json --at 50% -o {t}/out {t}/a.xen", "file"),
    ("query", "query -qf csv -o {t}/out {t}/a.xen 'SELECT count(*) FROM interval'", "file"),
    ("top", "top -qf csv -o {t}/out {t}/a.xen", "file"),
    ("rollup", "rollup -q --host h --start-time 1700000000 -o {t}/out {t}/a.xen", "file"),
    ("window", "view -n --from 1 {t}/b.xen", "window"),
    ("guests by hypercalls", "view -n {t}/y.dat", "guests"),
    ("split", "split -q --from 10% -o {t}/out {t}/a.xen", "trace"),
    ("split-dat", "split -q --from 10% -o {t}/out {t}/h.dat", "trace"),
    ("split a pair", "split -q --from 10% -o {t}/out {t}/h.dat {t}/g.dat", "parts"),
    ("merge", "merge -q -o {t}/out {t}/p.xen {t}/q.xen", "trace"),
    ("merge-dat", "merge -q -o {t}/out {t}/p.dat {t}/q.dat", "trace"),
    ("split over a pair", "split -q --from 10% -o {t}/out {t}/a.xen", "pair"),
    ("split-dat over a pair", "split -q --from 10% -o {t}/out {t}/h.dat", "pair"),
    ("merge over a pair", "merge -q -o {t}/out {t}/p.xen {t}/q.xen", "pair"),
    ("split again", "split -q --to 50% -o {t}/out {t}/a.xen", "again"),
)

bad = runs = 0


def complain(case, how, text):
    global bad
    bad += 1
    print("%s, %s: %s" % (case, how, text))


def prepare(kind):
    top = os.path.join(FOLDER, "t")
    shutil.rmtree(top, ignore_errors=True)
    os.mkdir(top)
    for name in os.listdir(INPUTS):
        shutil.copy(os.path.join(INPUTS, name), top)
    if kind == "file":
        with open(os.path.join(top, "out"), "w", encoding="ascii") as file:
            file.write("old\n")
    if kind in ("trace", "pair"):
        shutil.copy(os.path.join(SAMPLES, "saved.xen"), os.path.join(top, "out"))
    if kind == "pair":
        with open(os.path.join(top, "out.meta.json"), "w", encoding="ascii") as file:
            file.write('{ "domains": [ { "id": 0, "name": "old" } ] }')
    if kind == "again":
        shutil.copy(os.path.join(INPUTS, "p.xen"), os.path.join(top, "out"))
        with open(os.path.join(INPUTS, "p.xen.meta.json"), encoding="ascii") as file:
            sidecar = file.read().replace('"new"', '"old"')
        with open(os.path.join(top, "out.meta.json"), "w", encoding="ascii") as file:
            file.write(sidecar)
    if kind == "parts":
        os.mkdir(os.path.join(top, "out"))
    if kind == "tables":
        # those of another export, of which there is a part in each table
        shutil.copytree(os.path.join(FOLDER, "before"), os.path.join(top, "out"))
    return top


def state(top):
    """All that is there, by name; traces are not looked at."""
    found = {}
    for base, _, names in os.walk(top):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, top)] = file.read()
    return {name: data for name, data in found.items() if name not in os.listdir(INPUTS)}


def run(line, kind, top, call="", at=0, how=""):
    """Status, messages, and whether it has come that far."""
    done, after = os.path.join(FOLDER, "done"), os.path.join(FOLDER, "after")
    folder = os.path.join(top, "out") if kind in FOLDERS else top
    if os.path.exists(done):
        os.unlink(done)
    shutil.rmtree(after, ignore_errors=True)
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(top, "cache"))
    if call:
        env.update(LD_PRELOAD=LIBRARY, BROKEN_CALL=call, BROKEN_AT=str(at), BROKEN_HOW=how,
                   BROKEN_DONE=done, BROKEN_FOLDER=folder, BROKEN_AFTER=after)
    child = subprocess.run([COMMAND] + shlex.split(line.format(t=top)), env=env, timeout=600,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    if how == "power" and os.path.exists(done):
        shutil.rmtree(folder)
        os.rename(after, folder)
    return child.returncode, child.stderr.decode("utf-8", "replace"), os.path.exists(done)


def without_temporary(found):
    return {name: data for name, data in found.items()
            if not os.path.basename(name).startswith(".kshark-virt-")}


def numbers(trace):
    """The report of a trace, and its warnings."""
    report = json.loads(subprocess.run([COMMAND, "report", "-qf", "json", trace], check=True,
                                       stdout=subprocess.PIPE).stdout)
    said = json.dumps(report.pop("warnings", []))
    return {key: value for key, value in report.items() if key != "file"}, said


def judge(case, kind, how, ended, found, old, new, good, pairs):
    """@good: the exit status of the whole run; @pairs: what is read of the old and the new pair"""
    status, said = ended
    killed = how.endswith(("kill", "power"))
    whole = without_temporary(found)
    if not killed and whole != found:
        complain(case, how, "a temporary file is left")
    # libtracecmd's files are tried in another process first
    if killed and status != -9 and not (how.startswith("read") and status == 3):
        complain(case, how, "was not killed, but ended with %d" % status)
    if not killed and status not in (good, 3):
        complain(case, how, "status %d: %s" % (status, said))
    if status == 3 and not said:
        complain(case, how, "fails without a message")
    paired = kind in PAIRS and (killed or status == good)
    if paired and whole.keys() == new.keys() and whole not in (old, new):
        # the sidecar may say what it replaces as well: what counts is what is read
        if status == good or (kind != "again" and whole["out"] == new["out"]):
            pairs = pairs[1:]
        elif kind != "again":
            pairs = pairs[:1]
        if numbers(os.path.join(FOLDER, "t", "out")) not in pairs:
            complain(case, how, "what is there is read as neither the old pair nor the new one")
        return
    # the host is shown without them
    if kind == "guests" and status == good and said and whole == old:
        return
    if status == good and whole != new:
        complain(case, how, "success, and what was to be made is not there")
    if whole in (old, new):
        return
    if kind == "parts" and status != good and whole.keys() <= new.keys() and \
            all(data in (old.get(name), new[name]) for name, data in whole.items()):
        return
    if kind == "tables" and status and os.path.join("out", "schema.sql") not in whole:
        return
    complain(case, how, "what is there is neither the old result nor the new one: %s" %
             ", ".join(sorted(name for name in set(whole) | set(new)
                              if whole.get(name) != new.get(name))))


os.mkdir(INPUTS)
for sample, name in (("pinned.xen", "a.xen"), ("saved.xen", "b.xen"), ("kvm-host.dat", "h.dat"),
                     ("kvm-guest.dat", "g.dat"), ("recording-qemu/host.dat", "m.dat"),
                     ("recording-qemu/host.dat.meta.json", "m.dat.meta.json"),
                     ("recording-qemu/web.log", "m.log"), ("hypertrace-packed.dat", "y.dat")):
    shutil.copy(os.path.join(SAMPLES, sample), os.path.join(INPUTS, name))
with open(os.path.join(INPUTS, "a.xen.meta.json"), "w", encoding="ascii") as file:
    file.write('{ "domains": [ { "id": 1, "name": "new" } ] }')
for name, which, whole in (("p.xen", "--to", "a.xen"), ("q.xen", "--from", "a.xen"),
                           ("p.dat", "--to", "h.dat"), ("q.dat", "--from", "h.dat")):
    subprocess.run([COMMAND, "split", "-q", which, "50%", "-o", os.path.join(INPUTS, name),
                    os.path.join(INPUTS, whole)], check=True)
subprocess.run([COMMAND, "export", "-qf", "csv-tables", "-o", os.path.join(FOLDER, "before"),
                os.path.join(SAMPLES, "saved.xen")], check=True)
for case, line, kind in CASES:
    top = prepare(kind)
    old = state(top)
    pairs = [numbers(os.path.join(top, "out"))] if kind in PAIRS else []
    good, said, _ = run(line, kind, top)
    new = state(top)
    if pairs:
        pairs.append(numbers(os.path.join(top, "out")))
        if pairs[0] == pairs[1]:
            complain(case, "whole", "the old and the new pair cannot be distinguished")
    if good not in (0, 1) or new == old:
        complain(case, "whole", "status %d, changed: %s: %s" % (good, new != old, said))
        continue
    for call, most in MOST_OF.get(kind, MOST).items():
        for how in HOWS.get(call, ("power", EIO)):
            for at in range(1, most + 1):
                if how == "power" and kind in CACHED:
                    how = "kill"
                top = prepare(kind)
                status, said, done = run(line, kind, top, call, at, how)
                if not done:
                    break
                runs += 1
                judge(case, kind, "%s %d: %s" % (call, at, how), (status, said), state(top), old,
                      new, good, pairs)

# What check prints goes to a file that the shell has opened: it is not whole, and the exit status says so.
for form in "csv", "json", "junit", "text":
    for how in ENOSPC, EIO:
        done = os.path.join(FOLDER, "done-" + form + how)
        with open(os.path.join(FOLDER, "printed"), "wb") as out:
            child = subprocess.run([COMMAND, "check", "-qf", form, "--max", "steal=1%", os.path.join(INPUTS, "a.xen")],
                                   env=dict(os.environ, LD_PRELOAD=LIBRARY, BROKEN_CALL="write", BROKEN_AT="1",
                                            BROKEN_HOW=how, BROKEN_DONE=done),
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, check=False)
        runs += 1
        if child.returncode != 3 or not child.stderr or not os.path.exists(done):
            complain("check " + form, "write 1: " + how, "status %d: %s" % (child.returncode, child.stderr))
print("%d runs, %d complaints" % (runs, bad))
sys.exit(bad > 0 or runs < 300)
