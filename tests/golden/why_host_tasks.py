# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "why --task host:NAME" shows of a host's own tasks is what follows from what trace-cmd prints of the trace.

usage: why_host_tasks.py HOST.txt WHY.json...

HOST.txt is from "trace-cmd report -t -l", each WHY.json is an answer about a whole trace. Anew, from the text alone:
when the task had a CPU, why it left it, and who woke it. That is compared stretch by stretch, by the numbers of the
records at their ends and by their times. Prints how many stretches were compared.
"""
import re
import sys

from json_documents import documents
from why_tasks import handlers_of, read, stretches


def check_task(answer, records, handlers):
    pid = int(answer["subject"].rsplit("-", 1)[1])
    segments = {segment["from_ns"]: segment for segment in answer["segments"]}
    compared = 0
    for wanted in stretches(records, pid, handlers):
        first, last = records[wanted.first], records[wanted.last]
        if first.ns == last.ns:
            continue
        segment = segments[first.ns]
        assert segment["kind"] == ("task" if wanted.kind == "runs" else wanted.kind), (wanted, segment)
        assert segment["to_ns"] == last.ns, (wanted, segment)
        assert {first.number, last.number} <= set(segment["evidence"]), (wanted, segment)
        if wanted.kind == "blocked" and segment["cause"] in ("task", "vcpu"):
            # the threads of vCPUs have names without a pid
            waker = re.search(r"-(\d+)$", segment["who"])
            assert wanted.waker and (not waker or int(waker[1]) == wanted.waker), (wanted, segment)
        elif wanted.kind == "blocked":
            assert (segment["cause"], segment.get("handler")) == (wanted.cause, wanted.handler), (wanted, segment)
        compared += 1
    return compared


def main(argv):
    records = read(argv[0])
    handlers = handlers_of(records)
    print(sum(check_task(answer, records, handlers) for path in argv[1:] for answer in documents(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
