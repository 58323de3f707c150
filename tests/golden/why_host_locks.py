# SPDX-License-Identifier: LGPL-2.1-or-later
"""The locks for which "why" shows tasks of the host and threads of vCPUs to be blocked are those of trace-cmd's text.

usage: why_host_locks.py TEXT TID WHY.json...

TEXT is from "trace-cmd report -R -t"; TID the thread of the vCPU; each WHY.json has answers about the whole trace. Anew,
from the text: from when to when each task waits for which lock or futex. A segment in which a task is blocked has the
shortest wait around it, or none. Prints how many segments had a lock, and how many had none.
"""
import collections
import re
import sys

from json_documents import documents
from trace_text import records

# linux/futex.h: FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI, _LOCK_PI2
FUTEX_WAITS = {0, 6, 9, 11, 13}


def waits_of(path):
    """{pid: [(from, to, address)]}"""
    waits, open_waits, calls = collections.defaultdict(list), {}, {}
    for ns, pid, _, name, text in records(path):
        if name == "contention_begin":
            open_waits.setdefault((pid, int(re.search(r"lock_addr=(\w+)", text)[1], 16)), ns)
        elif name == "contention_end":
            address = int(re.search(r"lock_addr=(\w+)", text)[1], 16)
            if (pid, address) in open_waits:
                waits[pid].append((open_waits.pop((pid, address)), ns, address))
        elif name == "sys_enter_futex":
            address, op = (int(re.search(key + r"=(\w+)", text)[1], 0) for key in ("uaddr", "op"))
            calls[pid] = (ns, address) if op & 127 in FUTEX_WAITS else None
        elif name == "sys_exit_futex":
            call = calls.pop(pid, None)
            if call:
                waits[pid].append((call[0], ns, call[1]))
    return waits


def main(text, tid, *whys):
    waits = waits_of(text)
    with_lock = without = 0
    for answer in [answer for why in whys for answer in documents(why)]:
        pid = re.search(r"-(\d+)$", answer["subject"])
        pid = int(pid[1]) if pid else int(tid)
        for segment in answer["segments"]:
            if segment["kind"] != "blocked":
                continue
            around = [(a, b, address) for a, b, address in waits[pid]
                      if a <= segment["from_ns"] and b >= segment["to_ns"]]
            shown = segment.get("lock")
            shown = (shown["from_ns"], shown["to_ns"], int(shown["lock"], 16)) if shown else None
            assert shown == (max(around) if around else None), (answer["subject"], segment, around)
            with_lock += bool(shown)
            without += not shown
    print(with_lock, without)
    return 0


sys.exit(main(*sys.argv[1:]))
