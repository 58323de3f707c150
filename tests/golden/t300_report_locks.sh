# SPDX-License-Identifier: LGPL-2.1-or-later
# report --locks: waits for locks. Laws, a recount of trace-cmd's text, waits whose ends are known to the microsecond.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/locks.py
cp "$SAMPLES"/host-locks.dat "$WORK"
cd "$WORK" || exit 1

# locks ARGUMENT...: in locks.json and locks.csv; the laws hold
locks()
{
	run report -q --locks --format csv "$@"
	status 0
	cp "$OUT" locks.csv
	run report -q --locks --format json "$@"
	status 0
	cp "$OUT" locks.json
	check "laws: $*" python3 "$ORACLE" laws locks.json locks.csv > n
}

run report -q --locks host-locks.dat
status 0
golden "$TEST" "$OUT"
if command -v trace-cmd > /dev/null; then
	locks host-locks.dat
	trace-cmd report -R -t host-locks.dat > text 2> said
	check "recounted" python3 "$ORACLE" text locks.json text > n
	check "there were enough" test "$(cat n)" -gt 50
	# records of a CPU are missing in the middle
	trace-cmd convert -i host-locks.dat -o v6.dat --file-version 6 --compression none > said 2>&1
	python3 "$GOLDEN/buffer_loss.py" v6.dat lost.dat z44 0 7 > gap
	trace-cmd report -R -t lost.dat > text 2> said
	locks lost.dat
	read -r from to < gap
	check "recounted with a gap" python3 "$ORACLE" text locks.json text "$from" "$to" > n
fi

# windows side by side
locks host-locks.dat
cp locks.json whole.json
read -r begin end < <(sed -n 's/.*"window_ns": \[\(.*\), \(.*\)\].*/\1 \2/p' locks.json)
for i in 0 1 2 3; do
	run report -q --locks --format json --from $((begin + (end - begin) * i / 4))ns \
		--to $((begin + (end - begin) * (i + 1) / 4))ns host-locks.dat
	status 0
	cp "$OUT" "part$i.json"
done
check "windows add up" python3 "$ORACLE" sums whole.json part?.json > n

# as SQL
run query -q --format csv host-locks.dat "SELECT \"lock\", kind, pid, count(*), count(end_ns),
	coalesce(sum(end_ns - begin_ns), 0), sum(failed) FROM lock_wait GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
status 0
check "as SQL" python3 - whole.json "$OUT" << 'END'
import csv, json, sys
tasks = json.load(open(sys.argv[1]))["traces"][0]["tasks"]
ours = sorted((row["lock"], row["kind"], row["pid"], row["waits"], row["waited"]["count"], row["waited"]["total_ns"],
               row["failed"]) for row in tasks)
answer = [tuple(row[:2]) + tuple(int(cell) for cell in row[2:]) for row in list(csv.reader(open(sys.argv[2])))[1:]]
assert len(ours) > 10 and ours == answer, (ours, answer)
END

# One machine, and a trace without such events: unknown, and not 0.
run report -q --locks --format json --vcpu g1 host-locks.dat
status 0
check "tasks of the machine alone" python3 - "$OUT" << 'END'
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
assert [row["name"].rsplit("-")[0] for row in trace["tasks"]] == ["CPU 0/KVM"], trace["tasks"]
assert [(row["machine"], row["kind"], row["waits"]) for row in trace["machines"]] == [("g1", "rwsem read", 5)]
END
for trace in kvm-host.dat credit2-basic.xen; do
	run report -q --locks --format json "$SAMPLES/$trace"
	status 0
	check "$trace: unknown" python3 - "$OUT" << 'END'
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
assert {trace[key] for key in trace if key != "trace"} == {None}, trace
END
done
run report -q --locks "$SAMPLES/kvm-host.dat"
says "$OUT" "waits for locks are unknown"

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
locks cases.txt
python3 - locks.json << 'END' > rows
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
locks lost.txt
check "a wait into a gap has no duration" python3 - locks.json << 'END'
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
