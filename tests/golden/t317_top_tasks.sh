# SPDX-License-Identifier: LGPL-2.1-or-later
# top --tasks: intervals of the host's tasks add up to report --tasks, and a whole interval is the same.
. "$(dirname "$0")/lib.sh"

# sums WHAT TOP.json TASKS.json
cat > "$WORK/sums.py" << 'END'
import collections, json, sys
whole, top, report = sys.argv[1] == "whole", json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
sums, p99 = collections.Counter(), {}
for interval in top["intervals"]:
    for fact in interval["facts"]:
        if fact["section"] == "task":
            sums[fact["machine"], fact["name"], "ns"] += fact["ns"]
            sums[fact["machine"], fact["name"], "runs"] += fact["count"]
        elif fact["section"] == "task_wait":
            sums[fact["machine"], fact["name"], "wait"] += fact["ns"]
            sums[fact["machine"], fact["name"], "wakes"] += fact["complete"]
            p99[fact["machine"], fact["name"]] = fact["p99_ns"]
want = collections.Counter()
for machine in report["machines"]:
    for task in machine["tasks"]:
        key = machine["machine"], task["name"]
        if task["pid"]:
            want[key + ("ns",)] += task["total_ns"]
            want[key + ("runs",)] += task["runs"]
            want[key + ("wait",)] += task["preempted_ns"] + task["waking_ns"]
            want[key + ("wakes",)] += task["wake_latency"]["count"]
            assert not whole or not task["wake_latency"]["count"] or p99[key] == task["wake_latency"]["p99_ns"], task
assert +sums == +want, [(key, sums[key], want[key]) for key in sums | want if sums[key] != want[key]][:5]
print(len(+want))
END

for sample in kvm-host waits-packet; do
	run report -q --tasks --format json "$SAMPLES/$sample.dat"
	status 0
	cp "$OUT" "$WORK/tasks.json"
	for step in 700ms 1000s; do
		run top -q --tasks --interval $step --format json "$SAMPLES/$sample.dat"
		status 0
		check "$sample by $step" python3 "$WORK/sums.py" "$([ $step = 700ms ] || echo whole)" "$OUT" "$WORK/tasks.json" \
			> "$WORK/n"
		check "there were enough" test "$(cat "$WORK/n")" -gt 50
	done
done

# other facts stay as they are
run top -q --format csv "$SAMPLES/kvm-host.dat"
cp "$OUT" "$WORK/without.csv"
run top -q --tasks --format csv "$SAMPLES/kvm-host.dat"
status 0
same <(grep -v ',task,\|,task_wait,' "$OUT") "$WORK/without.csv"
run top -q --tasks --vcpu g1 --format csv "$SAMPLES/kvm-host.dat"
status 0
check "tasks of the machine alone" test "$(grep ',task,' "$OUT" | cut -d , -f 3 | sort -u)" = g1
run top -q --once --tasks "$SAMPLES/kvm-host.dat"
status 0
grep 'on pCPUs' "$OUT" > "$WORK/text"
golden "$TEST" "$WORK/text"
run top -q --once --tasks --format openmetrics "$SAMPLES/kvm-host.dat"
status 0
says "$OUT" '# TYPE kshark_virt_task_seconds counter'

# unknown, not zero: without wake-ups, without switches, and on Xen
run top -q --once --tasks --format json "$SAMPLES/host-samples.dat.gz"
status 0
python3 - "$OUT" > "$WORK/unknown" << 'END'
import json, sys
facts = json.load(open(sys.argv[1]))["intervals"][0]["facts"]
waits = [fact for fact in facts if fact["section"] == "task_wait"]
print(len(waits) > 10, {fact["complete"] for fact in waits}, {fact["p99_ns"] for fact in waits})
END
check "wake-ups: $(cat "$WORK/unknown")" test "$(cat "$WORK/unknown")" = "True {None} {None}"
for trace in host-disks.dat credit2-basic.xen; do
	run top -q --tasks "$SAMPLES/$trace"
	status 4
	says "$ERR" "do not show the host's tasks"
done
run top -q --tasks - < /dev/null
status 2
says "$ERR" "--tasks requires a complete trace"
finish
