# SPDX-License-Identifier: LGPL-2.1-or-later
# report --over-time: what a host's pCPUs did, interval by interval. Laws, and a recount of trace-cmd's text.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/over_time.py

# over_time N ARGUMENT...: in $WORK/over_time.json and over_time.csv; the laws hold
over_time()
{
	run report -q --over-time="$1" --format csv "${@:2}"
	status 0
	cp "$OUT" "$WORK/over_time.csv"
	run report -q --tasks --format json "${@:2}"
	status 0
	cp "$OUT" "$WORK/tasks.json"
	run report -q --over-time="$1" --format json "${@:2}"
	status 0
	cp "$OUT" "$WORK/over_time.json"
	check "laws: $*" python3 "$ORACLE" laws "$WORK/over_time.json" "$WORK/tasks.json" "$WORK/over_time.csv" > "$WORK/n"
}

run report -q --over-time=5 "$SAMPLES/kvm-host.dat"
status 0
golden "$TEST" "$OUT"
run report -q --over-time --format csv "$SAMPLES/kvm-host.dat"
status 0
check "20 intervals, if no number is given" test "$(wc -l < "$OUT")" = 21

for sample in waits-disk waits-ipi waits-packet; do
	over_time 7 "$SAMPLES/$sample.dat"
	command -v trace-cmd > /dev/null || continue
	trace-cmd report -R -t "$SAMPLES/$sample.dat" > "$WORK/text" 2> "$WORK/said"
	check "recounted: $sample" python3 "$ORACLE" text "$WORK/over_time.json" "$WORK/text" > "$WORK/n"
	check "there were enough" test "$(cat "$WORK/n")" -gt 1000
done
over_time 3 --from 1794 --to 1795 "$SAMPLES/kvm-host.dat"

# each kind of time, to the microsecond: two intervals of 50 us
cat > "$WORK/kinds.txt" << 'END'
# tracer: nop
#
       CPU 0/KVM-2000  [000] d..1   100.000000: kvm_entry: vcpu 0
       CPU 0/KVM-2000  [000] ....   100.000010: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0 info2 0
       CPU 0/KVM-2000  [000] ....   100.000012: sched_switch: prev_comm=CPU 0/KVM prev_pid=2000 prev_prio=120 prev_state=D ==> next_comm=sh next_pid=7 next_prio=120
              sh-7     [000] ....   100.000020: sys_enter: NR 1 (1, 2, 3, 0, 0, 0)
              sh-7     [000] ....   100.000030: sys_exit: NR 1 = 3
              sh-7     [000] ....   100.000034: softirq_entry: vec=1 [action=TIMER]
              sh-7     [000] ....   100.000035: sched_wakeup: comm=CPU 0/KVM pid=2000 prio=120 target_cpu=000
              sh-7     [000] ....   100.000038: softirq_exit: vec=1 [action=TIMER]
              sh-7     [000] ....   100.000070: page_fault_user: address=0x1 ip=0x2 error_code=0x4
              sh-7     [000] ....   100.000080: sys_enter: NR 35 (1, 2, 3, 0, 0, 0)
              sh-7     [000] ....   100.000081: page_fault_kernel: address=0x1 ip=0x2 error_code=0x4
              sh-7     [000] ....   100.000090: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0     [000] ....   100.000100: cpu_idle: state=1 cpu_id=0
END
over_time 2 "$WORK/kinds.txt"
python3 - "$WORK/over_time.json" << 'END' > "$WORK/kinds"
import json, sys
for one in json.load(open(sys.argv[1]))["intervals"]:
    print(*("%s %d" % (key[:-3], one[key] // 1000) for key in one if key not in ("from_ns", "to_ns") and
            key.endswith("_ns") and one[key]), "switches", one["switches"], "faults", one["faults"])
END
cat > "$WORK/expected" << 'END'
guest 10 user 24 syscall 10 softirq 4 mode_unknown 2 waking 15 uninterruptible 23 switches 1 faults 0
user 30 syscall 10 idle 10 waking 50 switches 1 faults 2
END
check "each kind" diff "$WORK/expected" "$WORK/kinds"

# Without the records that show it, a number is unknown and not zero; Xen does not record tasks.
for trace in credit2-basic.xen host-disks.dat; do
	run report -q --over-time --format json "$SAMPLES/$trace"
	status 0
	check "$trace: unknown" grep -q '"intervals": null' "$OUT"
done
# samples beside a trace: counts grow evenly between two of them and add up; states are means; the rest is unknown
cp "$SAMPLES/kvm-host.dat" "$WORK/sampled.dat"
cat > "$WORK/sampled.dat.samples.csv" << 'END'
later,time_ns,switches,runnable,forks,swap_in_bytes
x,1793000000000,100,2,5,0
,1794000000000,200,4,3,0
bad,1794000000000,300,4,3,0
y,1795000000000,1000,,4,
y,1796000000000,1001,7,5,8192
z,1797000000000,10
END
run report --over-time=2 --format csv --from 1793.5 --to 1795.5 "$WORK/sampled.dat"
status 0
says "$ERR" "2 lines are left out"
python3 - "$OUT" << 'END' > "$WORK/sums"
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(*(row["sampled_" + key] or "-" for key in ("switches", "runnable", "forks", "swap_in_bytes", "user_ns")))
END
cat > "$WORK/expected" << 'END'
450 4.000 - - -
400 - 1 - -
END
check "sums of samples" diff "$WORK/expected" "$WORK/sums"
# a share is of the time of all CPUs: without a part of that time, or if it is no number, no share is known
for numbers in 100,200,50,25,15,7,3,600 100,200,50,25,15,7,3, ,9223372036854775807,0,0,0,0,0,0 \
	9223372036854775807,9223372036854775807,0,0,0,0,0,9223372036854775807; do
	printf '%s\n%s\n%s\n' time_ns,guest_ns,user_ns,system_ns,irq_ns,softirq_ns,steal_ns,iowait_ns,idle_ns \
		1793000000000,0,0,0,0,0,0,0,0 "1796000000000,$numbers" > "$WORK/sampled.dat.samples.csv"
	run report --over-time=1 --from 1793.1 --to 1795.9 "$WORK/sampled.dat"
	status 0
	sed -n '/sampled from/,$p' "$OUT" | awk 'NR == 2 { gsub(" %", "%"); print $2, $3, $9 }'
done > "$WORK/shares"
printf '10.0%%  20.0%%  60.0%%\n-  -  -\n-  -  -\n-  -  -\n' | tr -s ' ' > "$WORK/expected"
check "shares of samples" diff "$WORK/expected" "$WORK/shares"
echo nothing > "$WORK/sampled.dat.samples.csv"
run report --over-time=2 --format csv "$WORK/sampled.dat"
status 0
says "$ERR" "no samples of record"

run report --over-time=0 "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "over-time"
finish
