# SPDX-License-Identifier: LGPL-2.1-or-later
# report --events: how often each event was recorded, as trace-cmd, perf and dump list the records.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/event_counts.py
cp "$SAMPLES"/kvm-{host,guest,cgroups,perf}.da* "$SAMPLES"/kvm-cgroups-web.dat "$SAMPLES"/credit2-basic.xen "$WORK"
cd "$WORK" || exit 1

# events ARGUMENT...: in events.json; the laws hold
events()
{
	run report -q --events --format csv "$@"
	status 0
	cp "$OUT" events.csv
	run report -q --events --format json "$@"
	status 0
	cp "$OUT" events.json
	check "laws: $*" python3 "$ORACLE" laws events.json events.csv > n
}

run report -q --events kvm-host.dat kvm-guest.dat
status 0
golden "$TEST" "$OUT"
for pair in kvm-host.dat,kvm-guest.dat kvm-cgroups.dat,kvm-cgroups-web.dat; do
	events "${pair%,*}" "${pair#*,}"
	command -v trace-cmd > /dev/null || continue
	trace-cmd report "${pair%,*}" > text 2> said
	check "as trace-cmd lists: $pair" python3 "$ORACLE" text events.json "${pair%,*}" text > n
	check "there were enough" test "$(cat n)" -gt 1000
done

events kvm-perf.data
if command -v perf > /dev/null; then
	perf report -i kvm-perf.data --stats 2> said |
		awk '/ stats:$/ { name = $1 } /SAMPLE events:/ { while (name ~ /:/ && $3--) print name }' > names
	check "as perf lists" python3 "$ORACLE" names events.json names > n
	check "there were enough" test "$(cat n)" -gt 1000
fi

# the number of a system call is that of an architecture: x86 has local_timer_entry
cat > calls.txt << 'END'
# tracer: nop
#
       CPU 0/KVM-2000  [000] ....   100.000000: kvm_entry: vcpu 0
       CPU 0/KVM-2000  [000] ....   100.000040: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0 info2 0
       CPU 0/KVM-2000  [000] ....   100.000050: sched_switch: prev_comm=CPU 0/KVM prev_pid=2000 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=7 next_prio=120
              sh-7     [000] ....   100.000060: sys_enter: NR 257 (1, 2, 3, 0, 0, 0)
              sh-7     [000] ....   100.000070: sys_exit: NR 257 = 3
              sh-7     [000] ....   100.000080: sys_enter: NR 1 (1, 2, 3, 0, 0, 0)
              sh-7     [000] d...   100.000081: local_timer_entry: vector=236
              sh-7     [000] d...   100.000082: local_timer_exit: vector=236
              sh-7     [000] ....   100.000090: sys_exit: NR 1 = 3
              sh-7     [000] ....   100.000091: sys_enter: NR 257 (1, 2, 3, 0, 0, 0)
              sh-7     [000] ....   100.000099: sys_enter: NR 4000 (1, 2, 3, 0, 0, 0)
END
events calls.txt
python3 - events.json << 'END' > counts
import json, sys
for row in json.load(open(sys.argv[1]))["traces"][0]["tasks"]:
    if "call" in row:
        print(row["machine"], row["name"], row["event"], row["call"], row["count"])
END
sort counts -o counts
cat > expected << 'END'
host sh-7 raw_syscalls:sys_enter openat 2
host sh-7 raw_syscalls:sys_enter system call 4000 1
host sh-7 raw_syscalls:sys_enter write 1
host sh-7 raw_syscalls:sys_exit openat 1
host sh-7 raw_syscalls:sys_exit write 1
END
check "each system call" diff expected counts
grep -v local_timer calls.txt > elsewhere.txt
run report -q --events --format json elsewhere.txt
status 0
check "no name of another architecture" test "$(grep -c openat "$OUT")" = 0

# a part of a trace, one machine, and Xen
events --from 1794 --to 1795 kvm-host.dat
run report -q --format json --from 1794 --to 1795 kvm-host.dat
check "as many as the report counts" python3 - events.json "$OUT" << 'END'
import json, sys
events, report = (json.load(open(path)) for path in sys.argv[1:])
assert events["traces"][0]["records"] == sum(task["records"] for task in report["tasks"]) > 1000
END
events credit2-basic.xen
"$KSV_BIN" dump -q --format csv credit2-basic.xen | python3 -c 'if True:
	import csv, sys
	for row in csv.DictReader(sys.stdin):
		print(row["event"])' > names
check "as dump lists" python3 "$ORACLE" names events.json names > n
finish
