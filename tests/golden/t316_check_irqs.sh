# SPDX-License-Identifier: LGPL-2.1-or-later
# check --irq-affinity: interrupts that are handled elsewhere than on the pCPUs that are meant for them.
. "$(dirname "$0")/lib.sh"

HOST=$SAMPLES/kvm-host.dat

# listed STATUS RULE...: the list is a recount of trace-cmd's text
command -v trace-cmd > /dev/null && trace-cmd report -R -t "$HOST" > "$WORK/text" 2> "$WORK/said"
listed()
{
	local wanted=$1 rules=()

	shift
	for rule in "$@"; do
		rules+=(--irq-affinity "$rule")
	done
	run check -q --format csv "${rules[@]}" "$HOST"
	status "$wanted"
	[ -s "$WORK/text" ] || return
	check "recounted: $*" python3 "$GOLDEN/check_irqs.py" "$OUT" "$WORK/text" "$@" > "$WORK/n"
	run check -q "${rules[@]}" "$HOST"
	status "$wanted"
	check "the sum: $*" grep -q "^$(cat "$WORK/n") of [0-9]* interrupts outside" "$OUT"
}
listed 1 softirq=0 irq=1,2
listed 1 softirq=0,1,2,3 TIMER=2 30=0
listed 1 virtio0-requests=3
listed 0 softirq=0,1,2,3 irq=0,1,2,3

# patterns; the last rule that fits counts
run check -q --irq-affinity '*=9' --irq-affinity '*=0-3' "$HOST"
status 0
all=$(sed 's/.* of \([0-9]*\) .*/\1/' "$OUT")
run check -q --irq-affinity 'virtio*=9' "$HOST"
status 1
check "fewer" test "$(sed -n 's/^\([0-9]*\) of \([0-9]*\) .*/\2/p' "$OUT")" -lt "$all"

# windows side by side have all of it
sum=0
for window in "--to 1795" "--from 1795"; do
	# shellcheck disable=SC2086 # words
	run check -q $window --irq-affinity '*=9' "$HOST"
	status 1
	sum=$((sum + $(sed -n 's/^\([0-9]*\) of .*/\1/p' "$OUT")))
done
check "windows add up" test "$sum" = "$all"

# handlers within handlers, the processor's own interrupts, and ends that are missing
cat > "$WORK/nested.txt" << 'END'
# tracer: nop
#
       CPU 0/KVM-2000  [002]  100.000000: kvm_entry: vcpu 0
       CPU 0/KVM-2000  [002]  100.000001: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0 info2 0
              sh-7     [000]  100.000005: irq_handler_entry: irq=5 name=eth0
              sh-7     [002]  100.000010: softirq_entry: vec=3 [action=NET_RX]
              sh-7     [002]  100.000020: irq_handler_entry: irq=49 name=virtio0
              sh-7     [002]  100.000022: irq_handler_exit: irq=49 ret=handled
              sh-7     [002]  100.000030: local_timer_entry: vector=236
              sh-7     [002]  100.000033: local_timer_exit: vector=236
              sh-7     [002]  100.000040: softirq_exit: vec=3 [action=NET_RX]
              sh-7     [003]  100.000050: irq_handler_entry: irq=49 name=virtio0
              sh-7     [003]  100.000060: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/3 next_pid=0 next_prio=120
              sh-7     [003]  100.000070: irq_handler_exit: irq=49 ret=handled
END
run check --irq-affinity '*=0,1' "$WORK/nested.txt"
status 1
golden "$TEST" "$OUT"

# nothing to judge: what was not recorded is not taken for good
for trace in "$SAMPLES/waits-disk.dat" "$SAMPLES/credit2-basic.xen"; do
	run check --irq-affinity '*=0' "$trace"
	status 4
	says "$ERR" "nothing to judge"
	check "no sum" test ! -s "$OUT"
done
run check --irq-affinity '*=0-3' --irq-affinity 'eth7=0' "$HOST"
status 0
says "$ERR" "no interrupt of it fits --irq-affinity eth7=0"
says "$ERR" "not recorded, and not judged: irq_vectors"
for wrong in 0-3 =0 'irq=' 'irq=x'; do
	run check --irq-affinity "$wrong" "$HOST"
	status 2
	says "$ERR" "write NAME=pCPUs"
done
finish
