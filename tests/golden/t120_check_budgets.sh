# SPDX-License-Identifier: LGPL-2.1-or-later
# check --max: limits of what vCPUs suffer; each number is that of report.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is not installed"
	exit 77
fi

hz=(--cpu-hz 2300M)
run_check() # ARGUMENT...
{
	run check "${hz[@]}" "$@"
}

# A limit of nothing for all there is, of all samples; maxima are those of report only where nothing goes
# on longer than the trace.
limits=()
for metric in steal wake migration exit 'exit[HLT]' 'exit[MSR]' 'exit[VMMCALL]' 'exit[INTR]' 'exit[NPF]'; do
	limits+=(--max "$metric=0%" --max "$metric.count=0" --max "$metric.rate=0")
	for percentile in 5 50 95 99; do
		limits+=(--max "$metric.p$percentile=0ns")
	done
done
total=0
hz=()
for sample in "$SAMPLES"/*.xen "$SAMPLES"/kvm-{host,migration,nested,nosync,shared,ptp}.dat; do
	name=${sample##*/}
	run report -q --format csv "$sample"
	mv "$OUT" "$WORK/report.csv"
	for per in machine vcpu; do
		run_check -q --format csv --per $per "${limits[@]}" "$sample"
		check "$name: a status" test "$STATUS" = 0 -o "$STATUS" = 1 -o "$STATUS" = 4
		check "$name: as report, per $per" python3 "$GOLDEN/budgets_are_report.py" "$WORK/report.csv" "$OUT" \
			$per > "$WORK/compared"
		total=$((total + $(cat "$WORK/compared")))
	done
done
check "enough was compared: $total" test "$total" -gt 3000

# what people see
hz=(--cpu-hz 2300M)
hvm=$SAMPLES/hvm-exits.xen
run_check --max wake.p99=200us --max steal=1% --max 'exit[msr*].rate=100/s' --max lost.count=0 \
	--max migration.max=1ms --max wake.max=20ms --per vcpu "$hvm"
status 1
golden t120_check_budgets_vcpus "$OUT"
run_check --max wake.p99=1s --max steal=1% "$hvm"
status 0
says "$OUT" "0 of 4 limits exceeded"
run_check --max wake.p99=20ms --vcpu d1 "$hvm"
status 0
run_check --max wake.p99=20ms --vcpu d0 "$hvm"
status 1

# text, CSV and JSON have the same contents
printf '0.5 1 early # the first\n\n2s\n100s 101s beyond\n' > "$WORK/windows"
for format in csv json text; do
	run_check --max wake.p99=1ms --max steal=1% --max 'exit[MSR].rate=1000/s' --windows "$WORK/windows" \
		--format $format "$hvm"
	status 1
	golden "t120_check_budgets_$format" "$OUT"
done
run_check --max wake.p99=1ms --max 'exit[MSR].rate=150/s' --windows "$WORK/windows" --around 100ms -f csv "$hvm"
says "$OUT" "1900000000,2100000000,,d1,"

# in single windows as report of these
run report --cpu-hz 2300M -q --format csv --from 1.9 --to 2.1 "$hvm"
mv "$OUT" "$WORK/report.csv"
run_check -q --format csv --per vcpu "${limits[@]}" --from 1.9 --to 2.1 "$hvm"
mv "$OUT" "$WORK/once.csv"
check "as report of the window" python3 "$GOLDEN/budgets_are_report.py" "$WORK/report.csv" "$WORK/once.csv" vcpu \
	> /dev/null
echo 2s > "$WORK/around"
run_check -q --format csv --per vcpu "${limits[@]}" --windows "$WORK/around" --around 100ms "$hvm"
same "$WORK/once.csv" "$OUT"

# What the trace does not show is not within its limit, unless what is seen is too much already.
trace-cmd convert --file-version 6 -i "$SAMPLES/kvm-shared.dat" -o "$WORK/v6.dat" > /dev/null 2>&1
sed 's/name: sched_switch$/name: sched_swXtch/' "$WORK/v6.dat" > "$WORK/unsplit.dat"
run check --max wake.p99=1ms --max steal=1% "$WORK/unsplit.dat"
status 4
says "$OUT" "sched:sched_switch was not recorded"
says "$OUT" "0 of 2 limits exceeded, 2 unknown"
run check --max steal=1% --max exit.count=1 "$WORK/unsplit.dat"
status 1
run check --max 'exit[MSR].p50=1ns' "$WORK/unsplit.dat"
status 4
run check --max 'exit[MSR].p50=100us' "$WORK/unsplit.dat"
status 0
run_check --max lost.count=0 "$SAMPLES/lost-records.xen"
status 1
says "$OUT" "trace lost.count=0: "
# what exits were for: a part of an argument's name; what the host did: a cause
run check --max 'exit[MSR:ICR].count=671' --max 'exit[MSR:icr (fixed)].rate=97.3/s' --max 'exit[*:EOI].count=142' \
	"$SAMPLES/kvm-host.dat"
status 0
run check --max 'exit[MSR:ICR].count=670' "$SAMPLES/kvm-host.dat"
status 1
says "$OUT" "g1 exit[MSR:ICR].count=670: 671 is more than 670 (671 VM exits; the worst took 7.262 ms"
run check --max 'exit[MSR:none].count=0' "$SAMPLES/kvm-host.dat"
status 0
says "$ERR" "--max exit[MSR:none].count=0: the trace shows no VM exit of this argument"
run check --max 'exit[NPF:swap-in].count=24' --max 'exit[NPF:userfault].count=24' "$SAMPLES/kvm-memory.dat"
status 1
says "$OUT" "g1 exit[NPF:swap-in].count=24: 25 is more than 24"
# without the records that show causes, all may be of this one
run check --max 'exit[NPF:swap-in].count=24' "$SAMPLES/kvm-host.dat"
status 4
says "$OUT" "the trace does not show what 83 VM exits were for"
run_check --max 'exit[HTL].count=1' "$hvm"
status 0
says "$ERR" "--max exit[HTL].count=1: the trace has no VM exit of this reason"

# interrupts, with the traces of guests: each percentile is that of report, and what no guest's trace shows is
# unknown
pair=("$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat")
irqs=()
for vector in '' '[local_timer]' '[virtio*]' '[0x*]' '[reschedule]'; do
	for percentile in p5 p50 p95 p99 max; do
		irqs+=(--max "irq$vector.$percentile=1ns")
	done
done
for window in "" "--from 1794 --to 1795" "--from 1793.2 --to 1793.3"; do
	# shellcheck disable=SC2086
	run report -q --full -f json $window "${pair[@]}"
	mv "$OUT" "$WORK/report.json"
	# shellcheck disable=SC2086
	run check -q -f json --per vcpu "${irqs[@]}" $window "${pair[@]}"
	check "interrupts as report ${window:-of all}" python3 "$GOLDEN/budgets_irqs.py" "$WORK/report.json" "$OUT"
done
run check --max irq.p99=1s "$SAMPLES/kvm-host.dat"
status 4
says "$OUT" "g1 irq.p99=1s: unknown, as no aligned trace of the guest shows its interrupts"
check "no note about vectors: $(cat "$ERR")" test ! -s "$ERR"
# some handlers are missing: too many for a maximum, too few for a median
run check --max irq.max=1s "${pair[@]}"
status 4
says "$OUT" "the guest's trace shows no handler of 48 of 613 interrupts"
run check --max irq.p50=1ms --max 'irq[local_timer].max=10ms' --max 'irq[none].max=1s' "${pair[@]}"
status 0
says "$ERR" "--max irq[none].max=1s: the trace has no interrupt of this vector"
# without the guest's handlers, no vector has a device's name
trace-cmd convert -i "${pair[1]}" -o "$WORK/guest.dat" --compression none > /dev/null
python3 "$GOLDEN/trace_dat_less.py" "$WORK/guest.dat" "$WORK/unnamed.dat" irq_handler_entry
for limit in 'irq[virtio0].max=1s|4|unknown, as 29 interrupts have vectors without a name' \
	'irq[local_timer].p50=1s|0|0 of 1 limits exceeded' 'irq[0x99].max=1s|0|0 of 1 limits exceeded'; do
	IFS='|' read -r limit code words <<< "$limit"
	run check --max "$limit" "${pair[0]}" "$WORK/unnamed.dat"
	status "$code"
	says "$OUT" "$words"
done

# what is no limit
while IFS='|' read -r limit words; do
	run check --max "$limit" "$hvm"
	status 2
	says "$ERR" "--max $limit: $words"
done << 'END'
wake|write it as METRIC=5%
=5%|no such metric
sleep=5%|no such metric
irq=5%|only the latency of interrupts can be limited: irq.p99=1ms
irq.count=5|only the latency of interrupts can be limited: irq.p99=1ms
wake[virtio0].p99=1ms|only exits have reasons, irq has vectors
wake=5|the limit of a share is in per cent
wake=-5%|the limit of a share is in per cent
wake.p=5us|no such statistic
wake.p0=5us|no such statistic
wake.p100=5us|no such statistic
wake.p99.=5us|no such statistic
wake.p99.99999=5us|no such statistic
wake.mean=5us|no such statistic
wake.p99=5x|not a duration
wake.p99=200|a duration needs a unit, such as 200us
wake.max=0.5|a duration needs a unit, such as 200us
wake.p99=tsc:5|not a duration
wake.max=-5us|not a duration
wake.count=1.5|not a number
wake.count=|not a number
wake.rate=5/h|not a number per second
wake.rate=1e999|not a number per second
wake[HLT].count=1|only exits have reasons
exit[].count=1|only exits have reasons
exit[HLT.count=1|only exits have reasons
exit[HLT]x=1%|no such statistic
lost=1%|only the number of losses
END
while IFS='|' read -r options words; do
	# shellcheck disable=SC2086
	run check $options "$hvm"
	status 2
	says "$ERR" "$words"
done << 'END'
-q|nothing to check: give --affinity, --affinity-file, --irq-affinity, --max or --core-isolation
--max wake=1% --affinity d1=0|--affinity, --irq-affinity, --max and --core-isolation have different tables
--max wake=1% --core-isolation|have different tables
--max wake=1% --topology x|--topology requires --core-isolation
--affinity d1=0 --per vcpu|require --max
--affinity d1=0 --format json|require --max
--max wake=1% --around 5ms|--around: give a positive duration, and --windows
END
run check --max wake=1% --windows "$WORK/windows" --from 1 "$hvm"
status 2
says "$ERR" "--windows replaces --from and --to"
echo '1 x' > "$WORK/wrong"
run check --max wake=1% --windows "$WORK/wrong" "$hvm"
status 2
says "$ERR" "wrong, line 1: write FROM TO"
run check --max wake=1% --windows "$WORK/nowhere" "$hvm"
status 3
head -c 5000 /dev/zero | tr '\0' 1 > "$WORK/long"
run check --max wake=1% --windows "$WORK/long" "$hvm"
status 3
says "$ERR" "too many for a list of windows"

# a recording's folder, and names of machines
run check --max steal=0% --per vcpu "$SAMPLES/recording-kvm"
check "it is judged" grep -q " of .* limits exceeded" "$OUT"

finish
