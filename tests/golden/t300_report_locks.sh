# SPDX-License-Identifier: LGPL-2.1-or-later
# report --locks: waits for locks. Laws, a recount of trace-cmd's text, waits whose ends are known to the microsecond.
. "$(dirname "$0")/lib.sh"

PAGE=locks
. "$GOLDEN/work_lib.sh"

run report -q --locks host-locks.dat
status 0
golden "$TEST" "$OUT"
check_recount 50 0
check_windows

# as SQL
run query -q --format csv host-locks.dat "SELECT \"lock\", kind, pid, count(*), count(end_ns),
	coalesce(sum(end_ns - begin_ns), 0), sum(failed) FROM lock_wait GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
status 0
check "as SQL" python3 - page.json "$OUT" << 'END'
import csv, json, sys
tasks = json.load(open(sys.argv[1]))["traces"][0]["tasks"]
ours = sorted((row["lock"], row["kind"], row["pid"], row["waits"], row["waited"]["count"], row["waited"]["total_ns"],
               row["failed"]) for row in tasks)
answer = [tuple(row[:2]) + tuple(int(cell) for cell in row[2:]) for row in list(csv.reader(open(sys.argv[2])))[1:]]
assert len(ours) > 10 and ours == answer, (ours, answer)
END

# One machine, and traces without such events.
check_machine waits 5 kind "rwsem read"
check_unknown "waits for locks are unknown"

# Calls of futex(), as events of their own and among all system calls.
for kind in named raw both; do
	python3 "$GOLDEN/futex_files.py" $kind $kind.dat
	page $kind.dat
	python3 - page.json << 'END' > rows
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
print(trace["waits"], trace["futex_waits"])
for row in trace["tasks"]:
    print(row["pid"], row["lock"], row["kind"], row["waits"], row["failed"], row["waited"]["count"],
          row["waited"]["total_ns"])
END
	cat > expected << 'END'
None 4
8 0x1000 futex 2 1 1 3000
7 0x7fff12345678 futex 1 0 1 3000
7 0x2000 pi futex 1 0 1 1000
END
	check "futexes: $kind" diff expected rows
done
run report -q --locks named.dat
says "$OUT" "waits for locks are unknown"
check "futexes are known" grep -q '^  0x2000 ' "$OUT"
run report -q --locks host-locks.dat
says "$OUT" "waits for futexes are unknown"

# Each case, as text of ftrace: spins for a mutex, then sleeps; an interrupt waits within; idle waits on two CPUs at
# once; interrupted by a signal; begun before the trace; not ended.
cat > cases.txt << 'END'
# tracer: nop
#
       CPU 0/KVM-2000  [000] ....   100.000000: kvm_entry: vcpu 0
       CPU 0/KVM-2000  [000] ....   100.000001: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0 info2 0
              dd-7     [000] ....   100.000010: contention_end: 0x10 (ret=0)
              dd-7     [000] ....   100.000020: contention_begin: 0x10 (flags=SPIN|MUTEX)
              dd-7     [000] d.h.   100.000021: contention_begin: 0x20 (flags=SPIN)
              dd-7     [000] d.h.   100.000023: contention_end: 0x20 (ret=0)
              dd-7     [000] ....   100.000030: contention_begin: 0x10 (flags=MUTEX)
              dd-7     [001] ....   100.000050: contention_end: 0x10 (ret=0)
          <idle>-0     [000] d.h.   100.000060: contention_begin: 0x20 (flags=SPIN)
          <idle>-0     [001] d.h.   100.000062: contention_begin: 0x20 (flags=SPIN)
          <idle>-0     [000] d.h.   100.000064: contention_end: 0x20 (ret=0)
          <idle>-0     [001] d.h.   100.000067: contention_end: 0x20 (ret=0)
              cp-8     [000] ....   100.000070: contention_begin: 0x30 (flags=WRITE)
              cp-8     [000] ....   100.000080: contention_end: 0x30 (ret=-4)
       CPU 0/KVM-2000  [000] ....   100.000090: contention_begin: 0x30 (flags=READ)
       CPU 0/KVM-2000  [000] ....   100.000100: kvm_entry: vcpu 0
END
page cases.txt
python3 - page.json << 'END' > rows
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
print(trace["waits"], trace["begun_before"])
for row in trace["locks"] + trace["machines"] + trace["tasks"]:
    print(row.get("name") or row.get("machine") or "all", row["lock"], row["kind"], row["waits"], row["failed"],
          row["waited"]["count"], row["waited"]["total_ns"], *([row["waiters"]] if "waiters" in row else []))
END
cat > expected << 'END'
6 1
all 0x10 mutex 1 0 1 30000 1
all 0x30 rwsem write 1 1 1 10000 1
all 0x20 spinlock 3 0 3 11000 2
all 0x30 rwsem read 1 0 0 0 1
host 0x10 mutex 1 0 1 30000
host 0x30 rwsem write 1 1 1 10000
host 0x20 spinlock 3 0 3 11000
g1 0x30 rwsem read 1 0 0 0
dd-7 0x10 mutex 1 0 1 30000
cp-8 0x30 rwsem write 1 1 1 10000
idle 0x20 spinlock 2 0 2 9000
dd-7 0x20 spinlock 1 0 1 2000
CPU 0/KVM-2000 0x30 rwsem read 1 0 0 0
END
sort -o expected expected
sort -o rows rows
check "each case" diff expected rows

# While records are missing, ends are unknown.
{
	sed '/100.000030/q' cases.txt
	echo "CPU:0 [LOST 5 EVENTS]"
	sed '1,/100.000050/d' cases.txt
} > lost.txt
page lost.txt
check "a wait into a gap has no duration" python3 - page.json << 'END'
import json, sys
rows = {(row["lock"], row["kind"]): row for row in json.load(open(sys.argv[1]))["traces"][0]["locks"]}
assert rows["0x10", "mutex"]["waits"] == 1 and rows["0x10", "mutex"]["waited"]["count"] == 0, rows
assert rows["0x20", "spinlock"]["waited"]["count"] == 3, rows
END
grep -v contention_end cases.txt > no-end.txt
run report -q --locks --format json no-end.txt
status 0
check "without ends, all is unknown" grep -q '"waits": null' "$OUT"
finish
