# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do limits of interrupts have the numbers of report --format json? REPORT CHECK, of one window; one
result per vCPU, vector and percentile, with a limit that is always exceeded."""
import fnmatch
import json
import re
import sys

report, check = (json.load(open(name)) for name in sys.argv[1:])
vcpus = {row["vcpu"]: row for row in report["interrupt_delivery"]["vcpus"]}
compared = 0
for limit in check["limits"]:
    pattern, statistic = re.fullmatch(r"irq(?:\[(.*)\])?\.(\w+)", limit["limit_of"]).groups()
    row = vcpus.get(limit["of"])
    rows = [row] if row and not pattern else [
        vector for vector in (row["vectors"] if row else [])
        if fnmatch.fnmatch(vector.get("name") or "0x%02x" % vector["vector"], pattern)]
    seen = sum(one["seen"] for one in rows)
    count = seen + sum(one["not_seen"] for one in rows)
    assert limit["count"] == count, (limit, count)
    if not seen:
        assert limit.get("value") is None, limit
        assert limit["result"] == ("unknown" if count > 2 else limit["result"]), limit
    elif len(rows) == 1:
        assert limit["value"] == rows[0][statistic + "_ns"], (limit, rows)
        assert limit["result"] == "exceeded", limit
        compared += 1
assert compared or not any(row["seen"] for row in vcpus.values())
print(compared)
