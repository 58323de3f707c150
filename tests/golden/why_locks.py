# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "why" says of the locks of module kvmhc in kvm-locks.dat is what the module has written into the guest's trace.

usage: why_locks.py HOST.txt GUEST.txt WHY.json...

Answers are about vCPUs or tasks and the whole trace, the texts are from "trace-cmd report -t". The module writes when
a task has its spinlock or its mutex, and when it gives it back; "why" does not read that. Each task or vCPU that has a
lock by an answer has it by these lines, too: a vCPU that is preempted has it all the time. Each one that waits does so by
the records of the kernel. Prints how many answers about preempted vCPUs, tasks that execute, and blocked tasks were
compared, and how many times a vCPU was preempted while its task had a lock and another one waited for it.
"""
import collections
import re
import sys

from json_documents import documents
from trace_text import records


def holds_of(path):
    """{lock: [(pid, CPU, from, to)]} by the module's lines."""
    holds, since = collections.defaultdict(list), {}
    for ns, pid, cpu, name, text in records(path):
        found = re.search(r"kvmhc (has|frees) (\w+)", text) if name == "bputs" else None
        if found and found[1] == "has":
            since[pid] = ns
        elif found:
            holds[found[2]].append((pid, cpu, since.pop(pid), ns))
    return holds


def waits_of(path):
    """{address: [(pid, from, to)]}, and {kind: address} of the module's locks: those that tasks of it wait for longest."""
    waits, since = collections.defaultdict(list), {}
    for ns, pid, cpu, name, text in records(path):
        if name == "contention_begin":
            since.setdefault((pid, pid or cpu, text.split()[0]), ns)
        elif name == "contention_end":
            begin = since.pop((pid, pid or cpu, text.split()[0]), None)
            if begin:
                waits[text.split()[0]].append((pid, begin, ns))
    return waits


def preempted_of(path):
    """[(vCPU, from, to)] of the threads of vCPUs, which are switched out while they could run."""
    out, spans = {}, []
    for ns, _, _, name, text in records(path):
        if name != "sched_switch":
            continue
        old, state, new = re.search(r"^(.*):\d+ \[\d+\] (\S+) ==> (.*):\d+ \[", text).groups()
        if state.startswith("R"):
            out[old] = ns
        else:
            out.pop(old, None)
        vcpu = re.fullmatch(r"CPU (\d)/KVM", new)
        if vcpu and new in out:
            spans.append((int(vcpu[1]), out[new], ns))
    return spans


def segments(all_of_them):
    for one in all_of_them:
        yield one
        yield from segments(one["segments"])


def pid_of(name):
    return int(name.rsplit("-", 1)[1])


def main(host, guest, *whys):
    holds, waits = holds_of(guest), waits_of(guest)
    # both are in the data of the module; the kinds are those of the records
    kinds = {"spinlock": "spin", "mutex": "mutex"}
    counts = collections.Counter()
    named = set()
    locks = collections.defaultdict(set)
    for answer in [answer for why in whys for answer in documents(why)]:
        for segment in segments(answer["segments"]):
            lock = segment.get("lock")
            if not lock or not lock["lock"].startswith("0xffffffffc0"):
                continue
            locks[lock["kind"]].add(lock["lock"])
            begin, end = segment["from_ns"], segment["to_ns"]
            truth = holds[kinds[lock["kind"]]]
            waiter = pid_of(lock["waiter"])
            assert (waiter, lock["from_ns"], lock["to_ns"]) in waits[lock["lock"]], segment
            assert lock["from_ns"] < end and lock["to_ns"] > begin, segment
            counts["waits"] += 1
            if "holder" not in lock:
                continue
            holder = pid_of(lock["holder"])
            assert holder != waiter, segment
            if segment["kind"] in ("preempted", "waking"):
                assert any(pid == holder and a <= begin and b >= end for pid, _, a, b in truth), segment
                named.add((begin, end))
            else:
                assert any(pid == holder and a < end and b > begin for pid, _, a, b in truth), segment
            counts[segment["kind"]] += 1
    assert all(len(addresses) == 1 for addresses in locks.values()), locks
    # a vCPU's thread that is preempted while its task has a lock, and another one waits for that
    everything = set()
    for kind, addresses in locks.items():
        for vcpu, a, b in preempted_of(host):
            for pid, cpu, begin, end in holds[kinds[kind]]:
                if cpu == vcpu and begin <= a and b <= end and any(
                        other != pid and x < b and y > a for address in addresses for other, x, y in waits[address]):
                    everything.add((a, b))
    missed = [(a, b) for a, b in everything if not any(x >= a and y <= b for x, y in named)]
    print(counts["preempted"], counts["lock"], counts["blocked"], len(everything), len(missed))
    return 0


sys.exit(main(*sys.argv[1:]))
