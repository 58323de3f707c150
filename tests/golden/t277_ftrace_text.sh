# SPDX-License-Identifier: LGPL-2.1-or-later
# The text of ftrace, and of 'trace-cmd report': its numbers are those of the trace.dat that trace-cmd prints.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
mkdir tmp
export TMPDIR=$WORK/tmp

# rows FILE: all numbers of a report, but bytes of records
rows()
{
	"$KSV_BIN" report -q --format csv "$1" | sed '1d; s/^[^,]*,//' | grep -v '^volume_' | sort
}
for sample in kvm-paused kvm-hypercall; do
	cp "$SAMPLES/$sample.dat" host.dat
	rows host.dat > right
	check "there are rows" test "$(wc -l < right)" -ge 150
	for form in "-t" "-t -R"; do
		# shellcheck disable=SC2086
		trace-cmd report $form host.dat > host.txt 2> /dev/null
		rows host.txt > got
		comm -23 right got > missing
		check "$sample $form: rows differ: $(head -3 missing)" test ! -s missing
	done
done

# In microseconds, numbers are less exact, which is said; so is that the context is not there.
trace-cmd report host.dat > host.txt 2> /dev/null
run report host.txt
status 0
says "$ERR" "host.txt: its times are in microseconds"
# trace-cmd of Debian 13 prints the context
grep -qE '\[[0-9]+\] +[.dDN][^ ]{4} ' host.txt || says "$ERR" "host.txt: it does not record all interrupts"
# the same numbers of exits
grep '^exits,' right > exits
rows host.txt | grep '^exits,' > got
same exits got

# Compressed, and from pipes.
run report -q --format csv host.txt
sed '2,$s/^[^,]*,/FILE,/' "$OUT" > right
gzip -k host.txt
zstd -q -k host.txt
for packed in "report -q --format csv host.txt.gz" "report -q --format csv host.txt.zst"; do
	# shellcheck disable=SC2086
	run $packed
	status 0
	sed '2,$s/^[^,]*,/FILE,/' "$OUT" > got
	same right got
done
"$KSV_BIN" report -q --format csv - < host.txt | sed '2,$s/^[^,]*,/FILE,/' > got
same right got
"$KSV_BIN" report -q --format csv <(cat host.txt) | sed '2,$s/^[^,]*,/FILE,/' > got
same right got

# The file "trace" of tracefs: 30 us in the guest, 10 us in the hypervisor, 20 us asleep; then a loss.
cat > trace.txt << 'T'
# tracer: nop
#
# entries-in-buffer/entries-written: 9/9   #P:4
#
#                                _-----=> irqs-off/BH-disabled
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
       CPU 0/KVM-2000    [001] d....   100.000010: kvm_entry: vcpu 0, rip 0xffffffff81a592eb
       CPU 0/KVM-2000    [001] d....   100.000040: kvm_exit: vcpu 0 reason HLT rip 0x1 info1 0x0000000000000000 info2 0x0
       CPU 0/KVM-2000    [001] d..2.   100.000050: sched_switch: prev_comm=CPU 0/KVM prev_pid=2000 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0       [001] dNh2.   100.000070: sched_waking: comm=CPU 0/KVM pid=2000 prio=120 target_cpu=001
          <idle>-0       [001] dNh3.   100.000070: sched_wakeup: comm=CPU 0/KVM pid=2000 prio=120 target_cpu=001
          <idle>-0       [001] d..2.   100.000070: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=CPU 0/KVM next_pid=2000 next_prio=120
CPU:1 [LOST 12 EVENTS]
       CPU 0/KVM-2000    [001] d....   100.000090: kvm_exit: vcpu 0 reason of a new kind
       CPU 0/KVM-2000    [001] .....   100.000091: my_event: something else
       CPU 0/KVM-2000    [001] d....   100.000092: kvm_entry: vcpu 0, rip 0x2
 this is no record
T
run report --full --format csv trace.txt
status 0
says "$OUT" "trace.txt,state,g1,g1v0,guest,1,30"
says "$OUT" "trace.txt,exits,g1,,HLT,1,"
says "$OUT" "trace.txt,pcpu,,p1,lost_records,12,"
says "$OUT" "trace.txt,state,g1,g1v0,blocked,1,20"
says "$ERR" "trace.txt: 2 lines are not understood, and their events not counted"
run why --worst 1 trace.txt
status 0
some_plugins
run view --dry-run trace.txt
status 0
says "$OUT" "/trace.txt.dat"
check "the temporary directory is gone" test -z "$(ls -A tmp)"

# As a guest of a host that trace-cmd has recorded.
cp "$SAMPLES/waits-timer.dat" "$SAMPLES/waits-timer-web.dat" .
trace-cmd report -t waits-timer-web.dat > guest.txt 2> /dev/null
run align waits-timer.dat guest.txt
status 0
says "$OUT" "explained   100.000 %"

# Times that are none: cycles, or numbers of events.
printf '# tracer: nop\n  a-1 [000] d... 123456789: kvm_entry: vcpu 0\n' > cycles.txt
run report cycles.txt
status 3
says "$ERR" "cycles.txt: no line of it is a record with a time in seconds. Set the trace clock"
head -c 300000 /dev/zero | tr '\0' a > long.txt
{ cat trace.txt; cat long.txt; } > both.txt
run report -q --format csv both.txt
status 0
says "$OUT" "both.txt,exits,g1,,HLT,1,"

finish
