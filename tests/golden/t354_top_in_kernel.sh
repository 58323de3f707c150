# SPDX-License-Identifier: LGPL-2.1-or-later
# top --in-kernel: on the real scheduler, with threads that count as vCPUs, the kernel's programs count what its events
# show at the same time; exits are those that KVM counts.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/top_in_kernel_lib.sh"

# exits ALL IO HALT IRQ: what KVM has counted
exits()
{
	for name in exits io_exits halt_exits irq_exits; do
		echo "$1" > "$KVM/$LOAD-8/$name"
		shift
	done
}

load 6
exits 1000 100 50 0

mkdir "$INSTANCE"
echo mono > "$INSTANCE/trace_clock"
echo 16384 > "$INSTANCE/buffer_size_kb"
for event in switch wakeup wakeup_new migrate_task; do
	echo 1 > "$INSTANCE/events/sched/sched_$event/enable"
done
begin -f csv --interval 500ms
wait_for lines "$OUT" 100
exits 1900 300 51 7
intervals() { test "$(cut -d, -f1 "$OUT" | sort -u | wc -l)" -ge 9; }
wait_for intervals
over
echo 0 > "$INSTANCE/tracing_on"
cat "$INSTANCE/trace" > "$WORK/trace"
check "the trace is complete" test -z "$(grep -h '^overrun: [1-9]' "$INSTANCE"/per_cpu/cpu*/stats)"
missed=$(sed -n "s/.*: \([0-9]*\) times, the kernel's programs did not see .*/\1/p" "$ERR")
grep -v 'got or lost a pCPU\|had no room: they are called others' "$ERR" > "$WORK/said"
check "nothing else is said: $(cat "$WORK/said")" test ! -s "$WORK/said"
check "the numbers are those of the events" \
	python3 "$GOLDEN/top_in_kernel.py" "$WORK/trace" "$OUT" "$WORK/tids" "${missed:-0}" > "$WORK/compared"
cat "$WORK/compared"
check "there are enough" test "$(cut -d ' ' -f 1 "$WORK/compared")" -gt 300

# exits add up to what KVM counts, by reason; what is unknown is no number
check "exits" test "$(awk -F, '$5 == "exits" && $4 == "" { n[$6] += $7 } END {
	print n["io_exits"] "," n["halt_exits"] "," n["irq_exits"] "," n["other exits"] }' "$OUT")" = 200,1,7,692
check "those of a vCPU are unknown" test "$(awk -F, '$5 == "exits" && $4 { print $7 $8 $9 }' "$OUT" | sort -u)" = ''
check "as are states that it does not see" test "$(grep -cE ',(guest|hypervisor|polling|vmm),[0-9]' "$OUT")" = 0
check "and those of a machine" test "$(grep -cE ',machine_state,[a-z_]*,[0-9]' "$OUT")" = 0
finish
