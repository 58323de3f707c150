# SPDX-License-Identifier: LGPL-2.1-or-later
# report --tasks: the host's own tasks. Laws, a recount of trace-cmd's text, perf's numbers, the kernel's own in /proc.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/host_tasks.py

# tasks ARGUMENT...: in $WORK/tasks.json and tasks.csv; the laws hold
tasks()
{
	run report -q --tasks --format csv "$@"
	status 0
	cp "$OUT" "$WORK/tasks.csv"
	run report -q --tasks --format json "$@"
	status 0
	cp "$OUT" "$WORK/tasks.json"
	check "laws: $*" python3 "$ORACLE" laws "$WORK/tasks.json" "$WORK/tasks.csv" > "$WORK/n"
}

run report -q --tasks "$SAMPLES/kvm-host.dat"
status 0
golden "$TEST" "$OUT"

numbers=0
for sample in kvm-host kvm-talk kvm-cgroups kvm-ptp waits-disk recording-kvm/host; do
	tasks "$SAMPLES/$sample.dat"
	command -v trace-cmd > /dev/null || continue
	trace-cmd report -R -t "$SAMPLES/$sample.dat" > "$WORK/text" 2> "$WORK/said"
	check "recounted: $sample" python3 "$ORACLE" text "$WORK/tasks.json" "$WORK/text" > "$WORK/n"
	numbers=$((numbers + $(cat "$WORK/n")))
done
command -v trace-cmd > /dev/null && check "there were enough: $numbers" test "$numbers" -gt 1000

# perf, now or when the text was written
tasks "$SAMPLES/kvm-perf.data"
check "as perf's" python3 "$ORACLE" perf "$WORK/tasks.json" "$GOLDEN/t274_timehist.txt" > "$WORK/n"
check "of enough tasks" test "$(cat "$WORK/n")" -gt 30
if command -v perf > /dev/null; then
	cp "$SAMPLES/kvm-perf.data" "$WORK/p.data"
	perf sched timehist -i "$WORK/p.data" --summary > "$WORK/timehist" 2> "$WORK/said"
	check "as perf's now" python3 "$ORACLE" perf "$WORK/tasks.json" "$WORK/timehist" > "$WORK/n"
fi

# system calls, handlers and faults, to the microsecond
cat > "$WORK/calls.txt" << 'END'
# tracer: nop
#
       CPU 0/KVM-2000  [000] d..1   100.000000: kvm_entry: vcpu 0
       CPU 0/KVM-2000  [000] ....   100.000040: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0 info2 0
       CPU 0/KVM-2000  [000] ....   100.000050: sched_switch: prev_comm=CPU 0/KVM prev_pid=2000 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=7 next_prio=120
              sh-7     [000] ....   100.000060: sys_enter: NR 1 (1, 2, 3, 0, 0, 0)
              sh-7     [000] ....   100.000064: irq_handler_entry: irq=9 name=acpi
              sh-7     [000] ....   100.000067: irq_handler_exit: irq=9 ret=handled
              sh-7     [000] ....   100.000070: sys_exit: NR 1 = 3
              sh-7     [000] ....   100.000078: sys_enter: NR 35 (1, 2, 3, 0, 0, 0)
              sh-7     [000] ....   100.000080: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=dd next_pid=8 next_prio=120
              dd-8     [000] ....   100.000090: softirq_entry: vec=1 [action=TIMER]
              dd-8     [000] ....   100.000091: sched_wakeup: comm=sh pid=7 prio=120 target_cpu=000
              dd-8     [000] ....   100.000095: softirq_exit: vec=1 [action=TIMER]
              dd-8     [000] ....   100.000100: sys_exit: NR 74 = 0
              dd-8     [000] ....   100.000103: page_fault_user: address=0x1 ip=0x2 error_code=0x4
              dd-8     [000] ....   100.000104: page_fault_kernel: address=0x1 ip=0x2 error_code=0x4
              dd-8     [000] ....   100.000110: sched_switch: prev_comm=dd prev_pid=8 prev_prio=120 prev_state=D ==> next_comm=sh next_pid=7 next_prio=120
              sh-7     [000] ....   100.000115: sys_exit: NR 35 = 0
              sh-7     [000] ....   100.000120: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0     [000] d.h.   100.000121: local_timer_entry: vector=236
          <idle>-0     [000] d.h.   100.000122: local_timer_exit: vector=236
          <idle>-0     [000] d.h.   100.000123: reschedule_entry: vector=253
          <idle>-0     [000] d.h.   100.000124: reschedule_exit: vector=253
          <idle>-0     [000] d.h.   100.000125: call_function_single_entry: vector=251
          <idle>-0     [000] d.h.   100.000126: call_function_single_exit: vector=251
          <idle>-0     [000] ....   100.000130: sched_wakeup: comm=dd pid=8 prio=120 target_cpu=000
          <idle>-0     [000] ....   100.000140: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=7 next_prio=120
              sh-7     [000] ....   100.000150: cpu_idle: state=1 cpu_id=0
END
tasks "$WORK/calls.txt"
python3 - "$WORK/tasks.json" << 'END' > "$WORK/calls"
import json, sys
for machine in json.load(open(sys.argv[1]))["machines"]:
    for task in machine["tasks"]:
        print(task["name"], *("%s %d" % (key[:-3], task[key] // 1000) for key in task if key.endswith("_ns")
                              and isinstance(task[key], int) and key != "unknown_ns" and task[key]),
              "faults", task["faults"])
    for call in machine["syscalls"]:
        print(call["name"], call["call"], call["count"], call["total_ns"] // 1000)
    for culprit in machine["culprits"]:
        print(culprit["name"], "waits for", culprit["culprit"], culprit["total_ns"] // 1000)
END
cat > "$WORK/expected" << 'END'
CPU 0/KVM-2000 total 50 blocked 100 guest 40 mode_unknown 10 faults 0
sh-7 total 50 preempted 20 waking 19 blocked 11 user 33 syscall 14 interrupt 3 faults 0
dd-8 total 30 waking 20 blocked 20 uninterruptible 20 user 10 syscall 15 softirq 5 faults 2
idle total 20 interrupt 3 idle 17 faults 0
dd-8 fsync 0 15
sh-7 write 1 7
sh-7 nanosleep 1 7
sh-7 waits for idle 20
sh-7 waits for dd-8 19
dd-8 waits for idle 10
dd-8 waits for sh-7 10
END
check "each mode, call and culprit" diff "$WORK/expected" "$WORK/calls"
check "all was recorded" grep -q '"modes_not_recorded": \[\]' "$WORK/tasks.json"

# windows side by side
for trace in "$SAMPLES/kvm-host.dat" "$WORK/calls.txt"; do
	read -r begin end < <(run report -q --tasks --format json "$trace"; cp "$OUT" "$WORK/whole.json"
		sed -n 's/.*"window_ns": \[\(.*\), \(.*\)\].*/\1 \2/p' "$OUT")
	parts=
	for i in 0 1 2 3 4; do
		from=$((begin + (end - begin) * i / 5)) to=$((begin + (end - begin) * (i + 1) / 5))
		run report -q --tasks --format json --from "${from}ns" --to "${to}ns" "$trace"
		status 0
		cp "$OUT" "$WORK/part$i.json"
		parts+=" $WORK/part$i.json"
	done
	# shellcheck disable=SC2086
	check "windows add up: $trace" python3 "$ORACLE" sums "$WORK/whole.json" $parts > "$WORK/n"
done

# Without the records that show it, a number is unknown and not zero.
sed '/sched_switch/d' "$WORK/calls.txt" > "$WORK/no-switch.txt"
run report -q --tasks --format json "$WORK/no-switch.txt"
status 0
check "without sched_switch there are no numbers" python3 - "$OUT" << 'END'
import json, sys
for machine in json.load(open(sys.argv[1]))["machines"]:
    assert machine["tasks"] is None, machine
    assert not [key for key in machine if key.endswith("_ns") and machine[key] is not None], machine
END
run report -q --tasks "$WORK/no-switch.txt"
says "$OUT" "sched:sched_switch was not recorded"
sed '/sched_wakeup/d' "$WORK/calls.txt" > "$WORK/no-wakeup.txt"
run report -q --tasks --format json "$WORK/no-wakeup.txt"
status 0
check "without wake-ups, sleep is unknown" python3 - "$OUT" << 'END'
import json, sys
for machine in json.load(open(sys.argv[1]))["machines"]:
    for task in machine["tasks"]:
        if task["pid"]:
            assert task["waking_ns"] is None and task["blocked_ns"] is None and task["wake_latency"] is None, task
END
sed '/sys_\|page_fault\|irq\|vector/d' "$WORK/calls.txt" > "$WORK/no-modes.txt"
run report -q --tasks --format json "$WORK/no-modes.txt"
status 0
check "without their events, modes are unknown" python3 - "$OUT" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
lacks = report["modes_not_recorded"]
unknown = "user_ns", "syscall_ns", "interrupt_ns", "softirq_ns", "faults"
assert [key for lack in lacks for key in lack["unknown"]] == list(unknown), lacks
assert [lack["included"] for lack in lacks] == [False, True, True, False], lacks
for machine in report["machines"]:
    assert machine["syscalls"] is None, machine
    for task in machine["tasks"]:
        for key in unknown:
            assert task[key] is None, (key, task)
END
# Nor do events of which only one of a pair was recorded, or only some system calls, show a mode.
partly() # NAME SED-SCRIPT KEY...
{
	sed "$2" "$WORK/calls.txt" > "$WORK/$1.txt"
	run report -q --tasks --format json "$WORK/$1.txt"
	status 0
	check "$1: unknown, and the modes fill the time" python3 - "$OUT" "${@:3}" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
tasks = [task for machine in report["machines"] for task in machine["tasks"]]
lacks = [key for lack in report["modes_not_recorded"] for key in lack["unknown"]]
assert lacks == sys.argv[2:], lacks
modes = "guest", "user", "syscall", "interrupt", "softirq", "idle", "mode_unknown"
for task in tasks:
    for key in sys.argv[2:]:
        assert task[key] is None, (key, task)
    assert sum(task[mode + "_ns"] or 0 for mode in modes) == task["total_ns"], task
END
}
partly no-call-ends /sys_exit/d user_ns syscall_ns
partly no-call-begins /sys_enter/d user_ns syscall_ns
partly some-calls 's/sys_enter: NR 1 .*/sys_enter_write: fd: 0x1/; s/sys_exit: NR 1 .*/sys_exit_write: 0x3/; /NR/d' user_ns syscall_ns
partly no-interrupt-ends /irq_handler_exit/d interrupt_ns
partly no-vectors /vector=/d interrupt_ns
partly some-vectors /reschedule/d interrupt_ns
partly no-devices /irq_handler/d interrupt_ns
partly no-softirq-begins /softirq_entry/d softirq_ns
partly no-user-faults /page_fault_user/d faults
partly no-kernel-faults /page_fault_kernel/d faults

run report -q --tasks --format json "$SAMPLES/credit2-basic.xen"
status 0
check "Xen does not record tasks" grep -q '"tasks": null' "$OUT"

# While records of a CPU are lost, its task and the ends of system calls are unknown.
{
	sed '/100.000080/q' "$WORK/calls.txt"
	echo "CPU:0 [LOST 5 EVENTS]"
	sed '1,/100.000095/d' "$WORK/calls.txt"
} > "$WORK/lost.txt"
tasks "$WORK/lost.txt"
check "lost time belongs to no task" python3 - "$WORK/tasks.json" << 'END'
import json, sys
tasks = {task["pid"]: task for machine in json.load(open(sys.argv[1]))["machines"] for task in machine["tasks"]}
assert sum(task["total_ns"] for task in tasks.values()) == 130000, tasks
assert tasks[8]["total_ns"] == 10000 and tasks[8]["syscall_ns"] == 0 and tasks[8]["user_ns"] == 10000, tasks[8]
assert tasks[7]["blocked_ns"] == 0 and tasks[7]["unknown_ns"] >= 20000, tasks[7]
END

# A switch is missing: the next record of the task shows that it has the CPU, and how long it waited is unknown.
sed /100.000110/d "$WORK/calls.txt" > "$WORK/dropped.txt"
tasks "$WORK/dropped.txt"
check "a dropped switch" python3 - "$WORK/tasks.json" << 'END'
import json, sys
tasks = {task["pid"]: task for machine in json.load(open(sys.argv[1]))["machines"] for task in machine["tasks"]}
keys = "total_ns", "preempted_ns", "waking_ns", "blocked_ns", "unknown_ns"
assert [tasks[7][key] for key in keys] == [45000, 20000, 0, 11000, 74001], tasks[7]
assert [tasks[7][key] for key in ("user_ns", "syscall_ns", "interrupt_ns")] == [33000, 9000, 3000], tasks[7]
assert tasks[8]["total_ns"] == 35000, tasks[8]
END

# This machine, now: the kernel's own sums of a process, taken at both ends of a window.
if [ "$(id -u)" = 0 ] && command -v perf > /dev/null &&
   perf record -q -a -o "$WORK/try.data" -e 'kvm:kvm_exit,sched:sched_switch' true > "$WORK/said" 2>&1; then
	check "recorded" python3 "$GOLDEN/schedstat.py" "$WORK" > "$WORK/ends"
	read -r pid from to run_ns wait_ns < "$WORK/ends"
	run report -q --tasks --format json --from "${from}ns" --to "${to}ns" "$WORK/now.data"
	status 0
	check "as /proc/$pid/schedstat has it" python3 - "$OUT" "$pid" "$run_ns" "$wait_ns" << 'END'
import json, sys
pid, run, wait = map(int, sys.argv[2:])
report = json.load(open(sys.argv[1]))
if "lost" in json.dumps(report.get("warnings", [])):
    print("perf lost records: nothing to compare")
    sys.exit(0)
tasks = {task["pid"]: task for machine in report["machines"] for task in machine["tasks"]}
task = tasks[pid]
# reading /proc takes time; the kernel counts at ticks and switches
assert abs(task["total_ns"] - run) < 0.02 * run + 5e6, (task["total_ns"], run)
# where the kernel has dropped a switch, which it does without counting it, a wait is unknown
waited = task["preempted_ns"] + task["waking_ns"]
assert waited < 1.05 * wait + 10e6 and waited + task["unknown_ns"] > 0.95 * wait - 10e6, (task, wait)
assert task["syscall_ns"] and task["user_ns"], task
END
fi
finish
