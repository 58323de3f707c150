# SPDX-License-Identifier: LGPL-2.1-or-later
# report --disks: requests to disks. Laws, a recount of trace-cmd's text, requests whose ends are known to the microsecond.
. "$(dirname "$0")/lib.sh"

PAGE=disks
. "$GOLDEN/work_lib.sh"

run report -q --disks host-disks.dat
status 0
golden "$TEST" "$OUT"
check_recount 800 1
check_windows

# as SQL
run query -q --format csv host-disks.dat "SELECT disk, pid, count(*), sum(bytes), count(end_ns),
	coalesce(sum(end_ns - issue_ns), 0), count(queue_ns), coalesce(sum(queue_ns), 0), max(depth),
	coalesce(sum(seek_bytes), 0), sum(failed) FROM disk_request GROUP BY disk, pid ORDER BY disk, pid"
status 0
check "as SQL" python3 - page.json "$OUT" << 'END'
import csv, json, sys
tasks = json.load(open(sys.argv[1]))["traces"][0]["tasks"]
ours = [[row["disk"], row["pid"], row["requests"], row["bytes"], row["duration"]["count"], row["duration"]["total_ns"],
         row["queue"]["count"], row["queue"]["total_ns"], row["depth_max"], row["seek_bytes"], row["failed"]]
        for row in sorted(tasks, key=lambda row: (row["disk"], row["pid"]))]
answer = [row[:1] + [int(cell) for cell in row[1:]] for row in list(csv.reader(open(sys.argv[2])))[1:]]
assert len(ours) > 10 and ours == answer, (ours, answer)
END

# One machine, and traces without such events.
check_machine requests 120
check_unknown "requests are unknown"

# Each case, as text of ftrace: to the queue and merged; given back; in two parts; two at once; failed; a flush in
# front of an empty write; begun before the trace; not ended.
cat > cases.txt << 'END'
# tracer: nop
#
       CPU 0/KVM-2000  [000] ....   100.000000: kvm_entry: vcpu 0
       CPU 0/KVM-2000  [000] ....   100.000001: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0 info2 0
              dd-7     [000] ....   100.000010: block_rq_complete: 8,0 R () 900 + 8 none,0,0 [0]
              dd-7     [000] ....   100.000020: block_rq_insert: 8,0 W 4096 () 108 + 8 none,0,0 [dd]
              dd-7     [000] ....   100.000021: block_bio_frontmerge: 8,0 W 100 + 8 [dd]
              dd-7     [000] ....   100.000022: block_bio_backmerge: 8,0 W 116 + 8 [dd]
      kworker/0-9      [000] ....   100.000025: block_rq_issue: 8,0 W 12288 () 100 + 24 none,0,0 [kworker/0]
              dd-7     [000] ....   100.000030: block_rq_complete: 8,0 W () 100 + 8 none,0,0 [0]
              dd-7     [000] ....   100.000045: block_rq_complete: 8,0 W () 108 + 16 none,0,0 [0]
              dd-7     [000] ....   100.000050: block_rq_issue: 8,0 R 4096 () 124 + 8 none,0,0 [dd]
              dd-7     [000] ....   100.000052: block_rq_requeue: 8,0 R () 124 + 8 none,0,0 [0]
              dd-7     [000] ....   100.000055: block_rq_insert: 8,0 R 4096 () 124 + 8 none,0,0 [dd]
      kworker/0-9      [000] ....   100.000060: block_rq_issue: 8,0 R 4096 () 124 + 8 none,0,0 [kworker/0]
          <idle>-0     [000] ....   100.000067: block_rq_complete: 8,0 R () 124 + 8 none,0,0 [-5]
              cp-8     [000] ....   100.000070: block_rq_issue: 8,0 R 4096 () 500 + 8 none,0,0 [cp]
              dd-7     [001] ....   100.000071: block_rq_issue: 8,0 R 4096 () 132 + 8 none,0,0 [dd]
              cp-8     [000] ....   100.000072: block_rq_issue: 8,0 R 4096 () 500 + 8 none,0,0 [cp]
              cp-8     [000] ....   100.000080: block_rq_complete: 8,0 R () 500 + 8 none,0,0 [0]
              cp-8     [000] ....   100.000082: block_rq_complete: 8,0 R () 500 + 8 none,0,0 [0]
              cp-8     [000] ....   100.000083: block_rq_complete: 8,0 R () 132 + 8 none,0,0 [0]
      kworker/0-9      [000] ....   100.000090: block_rq_issue: 8,0 FF 0 () 0 + 0 none,0,0 [kworker/0]
          <idle>-0     [000] ....   100.000098: block_rq_complete: 8,0 FF () 18446744073709551615 + 0 none,0,0 [0]
          <idle>-0     [000] ....   100.000099: block_rq_complete: 8,0 WS () 0 + 0 none,0,0 [0]
       CPU 0/KVM-2000  [000] ....   100.000100: block_rq_issue: 8,16 WS 512 () 7 + 1 none,0,0 [CPU 0/KVM]
END
page cases.txt
python3 - page.json << 'END' > rows
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
keys = "requests", "bytes", "failed", "sequential", "seeks", "seek_bytes", "depth_max"
for row in trace["disks"] + trace["machines"] + trace["tasks"]:
    who = row.get("operation") or row.get("name") or row["machine"]
    print(row["disk"], who, *(row[key] for key in keys), *(row[key]["count"] for key in ("duration", "queue")),
          *(row[key]["total_ns"] for key in ("duration", "queue")),
          *((row["merges"], row["begun_before"]) if "merges" in row else ()))
for row in trace["interruptions"]:
    print(row["disk"], row["name"], "by", row["by"], row["count"])
END
cat > expected << 'END'
8:0 all 6 28672 1 1 3 565248 3 4 2 47000 15000 2 1
8:0 read 4 16384 1 1 3 565248 3 2 1 19000 10000
8:0 write 1 12288 0 0 0 0 1 1 1 20000 5000
8:0 flush 1 0 0 0 0 0 1 1 0 8000 0
8:16 all 1 512 0 0 0 0 1 0 0 0 0 0 0
8:16 write 1 512 0 0 0 0 1 0 0 0 0
8:0 host 6 28672 1 1 3 565248 3 4 2 47000 15000
8:16 g1 1 512 0 0 0 0 1 0 0 0 0
8:0 dd-7 3 20480 1 1 1 192512 2 3 2 39000 15000
8:0 cp-8 2 8192 0 0 2 372736 3 0 0 0 0
8:16 CPU 0/KVM-2000 1 512 0 0 0 0 1 0 0 0 0
8:0 kworker/0-9 1 0 0 0 0 0 1 1 0 8000 0
8:0 dd-7 by cp-8 1
END
check "each case" diff expected rows

# While records are missing, ends, depth and place are unknown.
{
	sed '/100.000072/q' cases.txt
	echo "CPU:0 [LOST 5 EVENTS]"
	sed '1,/100.000072/d' cases.txt
} > lost.txt
page lost.txt
check "what was in flight has no duration" python3 - page.json << 'END'
import json, sys
rows = {row["operation"]: row for row in json.load(open(sys.argv[1]))["traces"][0]["disks"] if row["disk"] == "8:0"}
assert rows["read"]["requests"] == 4 and rows["read"]["duration"]["total_ns"] == 7000, rows["read"]
assert rows["read"]["duration"]["count"] == 1 and rows["read"]["depth_max"] == 3, rows["read"]
assert rows["flush"]["duration"]["total_ns"] == 8000 and rows["flush"]["depth_max"] == 1, rows["flush"]
assert rows["all"]["begun_before"] == 1, rows["all"]
END
grep -v block_rq_insert cases.txt > no-insert.txt
page no-insert.txt
check "without inserts, times in queues are unknown" python3 - page.json << 'END'
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
assert {str(row["queue"]) for row in trace["disks"] + trace["tasks"] + trace["machines"]} == {"None"}, trace
END
grep -v block_rq_complete cases.txt > no-end.txt
run report -q --disks --format json no-end.txt
status 0
check "without ends, all is unknown" grep -q '"requests": null' "$OUT"
finish
