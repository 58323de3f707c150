# SPDX-License-Identifier: LGPL-2.1-or-later
# What was not recorded is unknown: without a kind of event, each number of a report is that of the
# whole trace, or null; limits on it are not kept, and no difference of it is claimed.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}

# less SAMPLE EVENTS PATH...: leave events out; numbers at these paths must be unknown
less()
{
	local sample=$1 events=$2

	shift 2
	# shellcheck disable=SC2086
	python3 "$GOLDEN/trace_dat_less.py" "$WORK/$sample.dat" "$WORK/less.dat" $events
	run report --quiet --format json "$WORK/less.dat"
	status 0
	cp "$OUT" "$WORK/less.json"
	check "$sample without $events" python3 "$GOLDEN/equal_or_null.py" "$WORK/$sample.json" \
		"$WORK/less.json" "$sample without $events" ${1:+--expect-unknown} "$@"
	for page in $(pages_of $sample); do
		page_of "$page" "$WORK/less.dat" "$WORK/less-page.json"
		check "keys of $page of $sample without $events" python3 "$GOLDEN/same_keys.py" \
			"$WORK/$sample.$page.json" "$WORK/less-page.json" "$page without $events"
		case $page in all | worst | top) continue ;; esac
		check "$page of $sample without $events" python3 "$GOLDEN/equal_or_null.py" \
			"$WORK/$sample.$page.json" "$WORK/less-page.json" "$page without $events" --page
	done
}

# page_of PAGE TRACE TO
page_of()
{
	case $1 in
	top) run top --quiet --interval 9999 --format json "$2" ;;
	worst) run report --quiet --worst 9999 --format json "$2" ;;
	all) run report --quiet --format json "$2" ;;
	*) run report --quiet "--$1" --format json "$2" ;;
	esac
	status 0
	cp "$OUT" "$3"
}

# pages_of SAMPLE
pages_of()
{
	if [ "$1" = kvm-shared ]; then
		echo all waits threads tasks handlers power migrations exits worst top
	else
		echo tasks exits
	fi
}

for sample in kvm-host kvm-shared; do
	trace-cmd convert -i "$SAMPLES/$sample.dat" -o "$WORK/$sample.dat" --compression none \
		> "$WORK/convert.log" 2>&1
	run report --quiet --format json "$WORK/$sample.dat"
	status 0
	# but quotas of machines, which the sidecar of record has
	check "all of $sample is known" test "$(sed "s/\"limit_ns\": null, //" "$OUT" | grep null | grep -vc '^  "limits": null,$')" = 0
	cp "$OUT" "$WORK/$sample.json"
	for page in $(pages_of $sample); do
		page_of "$page" "$WORK/$sample.dat" "$WORK/$sample.$page.json"
	done
	less $sample sched_wakeup states/waking/total_ns wake_latency/total_ns runnable/total_ns
	less $sample kvm_entry states/guest/total_ns states/hypervisor/total_ns
	less $sample kvm_exit states/guest/total_ns states/hypervisor/total_ns /exits busy_ns
	less $sample sched_switch states/preempted/total_ns states/blocked/total_ns
	less $sample kvm_userspace_exit states/vmm/total_ns vmm_ns
	less $sample sched_migrate_task
	less $sample kvm_inj_virq
done

# The same of rates and shares, which refer to time: also without the records that show what a vCPU
# did on its pCPU, the trace shows how long it had one.
for sample in kvm-host kvm-shared; do
	for pair in "kvm_exit steal_percent waking_percent migrations_per_s" \
		"kvm_entry steal_percent waking_percent migrations_per_s exits_per_s"; do
		read -r event metrics <<< "$pair"
		python3 "$GOLDEN/trace_dat_less.py" "$WORK/$sample.dat" "$WORK/less.dat" "$event"
		for metric in $metrics; do
			run compare --quiet --windows 1 --statistic mean --format csv \
				--metric "*.$metric" "$WORK/$sample.dat" "$WORK/less.dat"
			check "$metric of $sample without $event" python3 - "$OUT" << 'END'
import csv, sys
values = {}
for row in csv.DictReader(open(sys.argv[1])):
    values.setdefault(row["metric"], []).append(row["value"])
assert values
for metric, (whole, fewer) in values.items():
    assert whole and whole == fewer, (metric, whole, fewer)
END
		done
	done
done

# A law that cannot fail is none.
sed 's/"migrations": \([0-9]\)/"migrations": 7\1/' "$WORK/less.json" > "$WORK/wrong.json"
check "a wrong number is found" sh -c '! python3 "$@" > /dev/null' sh "$GOLDEN/equal_or_null.py" \
	"$WORK/kvm-shared.json" "$WORK/wrong.json" wrong

# Commands about a number that is unknown print what to record.
python3 "$GOLDEN/trace_dat_less.py" "$WORK/kvm-host.dat" "$WORK/nowake.dat" sched_wakeup
python3 "$GOLDEN/trace_dat_less.py" "$WORK/kvm-host.dat" "$WORK/exitonly.dat" kvm_entry
run check --max wake.p99=1us "$WORK/nowake.dat"
status 4
check "check says why" grep -q 'sched:sched_wakeup was not recorded' "$OUT"
run check --max steal=100% "$WORK/nowake.dat"
status 0
run check --max exit.p99=1us "$WORK/exitonly.dat"
status 4
run check --format json --max wake.p99=1us "$WORK/nowake.dat"
check "JSON" grep -q '"value": null' "$OUT"
run compare --quiet --metric '*.guest_percent' "$WORK/kvm-host.dat" "$WORK/exitonly.dat"
status 4
check "compare says why" grep -q 'unknown: kvm:kvm_entry was not recorded' "$OUT"
run compare --quiet --metric '*.waking_percent' --statistic mean "$WORK/nowake.dat" "$WORK/kvm-host.dat"
status 4
check "also of the baseline" grep -q 'unknown in the baseline: sched:sched_wakeup' "$OUT"
run report --worst 3 --kind wake "$WORK/nowake.dat"
status 0
check "worst says why" grep -q 'wake: unknown, as sched:sched_wakeup was not recorded' "$OUT"
run report --worst 3 --kind wake --format json "$WORK/nowake.dat"
check "worst in JSON" grep -q '"not_visible": \["wake"\]' "$OUT"
run report --format csv "$WORK/nowake.dat"
check "CSV" grep -q ',state,g1,g1v0,waking,,,,,,,,,,,,$' "$OUT"
run report --full "$WORK/nowake.dat"
check "text" grep -qx '  waking                         -' "$OUT"

# Costs that are unknown may be above a limit: 40 of 60 exits have no entry in the trace, and one has no end.
run check --max exit.p99=100us "$SAMPLES/cases/fastpath.dat"
status 4
says "$OUT" "the costs of 41 of 60 VM exits are unknown"
run check --max 'exit[HLT].p99=100us' --max exit.p25=100us "$SAMPLES/cases/fastpath.dat"
status 0
run check --max exit.p99=12us "$SAMPLES/cases/fastpath.dat"
status 1
run check --max 'exit[MSR_WRITE]=0.001%' "$SAMPLES/cases/fastpath.dat"
status 4

# Xen without the class hvm: switches are there, VM exits are not.
python3 "$GOLDEN/xen_less.py" "$SAMPLES/hvm-exits.xen" "$WORK/sched.xen" 'event >> 16 != 8 or 0x40f0ff'
run check --max exit.p99=1us "$WORK/sched.xen"
status 4
check "Xen" grep -q 'the class hvm (-e 0x8f000) was not recorded' "$OUT"
run report --quiet --format json "$SAMPLES/hvm-exits.xen"
cp "$OUT" "$WORK/xen.json"
run report --quiet --format json "$WORK/sched.xen"
cp "$OUT" "$WORK/xen-less.json"
check "Xen without hvm" python3 "$GOLDEN/equal_or_null.py" "$WORK/xen.json" "$WORK/xen-less.json" \
	"hvm-exits without hvm" --expect-unknown states/hypervisor/total_ns /exits

# Without its part sched.runstate, switches show who has a pCPU, and nothing shows what vCPUs do without one.
for sample in dom0 credit2-basic hvm-exits hvm-io; do
	python3 "$GOLDEN/xen_less.py" "$SAMPLES/$sample.xen" "$WORK/switches.xen" 'event >> 12 != 0x21 or 0x40f0ff'
	run report --quiet --format json "$SAMPLES/$sample.xen"
	hz=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["clock"]["cpu_hz"])' "$OUT")
	run report --quiet --format json --cpu-hz "$hz" "$SAMPLES/$sample.xen"
	cp "$OUT" "$WORK/runstates.json"
	run report --quiet --format json --cpu-hz "$hz" "$WORK/switches.xen"
	cp "$OUT" "$WORK/switches.json"
	check "$sample without runstates" python3 "$GOLDEN/equal_or_null.py" "$WORK/runstates.json" \
		"$WORK/switches.json" "$sample without runstates" --near-switches --expect-unknown \
		states/{waking,blocked,preempted,offline}/total_ns runnable/total_ns /culprits
done
run check --max steal=100% "$WORK/switches.xen"
status 4
says "$OUT" 'the part sched.runstate (-e 0x21000) was not recorded'

# intervals_without_a_pcpu TRACE: how many intervals are in states that need runstates
intervals_without_a_pcpu()
{
	run query -q -f csv "$1" "SELECT count(*) FROM interval
		WHERE state IN ('preempted', 'waking', 'blocked', 'device_model', 'offline')"
	status 0
	without=$(tail -n 1 "$OUT")
}
intervals_without_a_pcpu "$SAMPLES/hvm-io.xen"
check "the whole trace has such intervals ($without)" test "$without" -gt 0
intervals_without_a_pcpu "$WORK/switches.xen"
check "without runstates there are none" test "$without" = 0

# Without its part hvm.handler, which has the hypercalls, traps and interrupts of HVM domains: these are unknown.
python3 "$GOLDEN/xen_less.py" "$SAMPLES/hvm-exits.xen" "$WORK/handlers.xen" \
	'event + 0x2000 if event >> 12 == 0x82 else True'
run report --quiet --format json "$WORK/handlers.xen"
cp "$OUT" "$WORK/xen-less.json"
check "Xen without handlers" python3 "$GOLDEN/equal_or_null.py" "$WORK/xen.json" "$WORK/xen-less.json" \
	"hvm-exits without handlers" --expect-unknown /hypercalls /traps /interrupts
# The class pv has those of PV domains.
python3 "$GOLDEN/xen_less.py" "$SAMPLES/hvm-exits.xen" "$WORK/pv.xen" 'event >> 16 != 0x20 or 0x40f000'
run report --quiet --format json "$WORK/pv.xen"
cp "$OUT" "$WORK/xen-less.json"
check "Xen without pv" python3 "$GOLDEN/equal_or_null.py" "$WORK/xen.json" "$WORK/xen-less.json" \
	"hvm-exits without pv" --expect-unknown /hypercalls /traps

# Multicalls without their calls, which pv.subcall has: these are unknown, and not none.
run report --quiet --format json "$SAMPLES/credit2-basic.xen"
cp "$OUT" "$WORK/multi.json"
python3 "$GOLDEN/xen_less.py" "$SAMPLES/credit2-basic.xen" "$WORK/multi.xen" \
	'event + 0x2000 if event >> 12 == 0x202 else True'
run report --quiet --format json "$WORK/multi.xen"
cp "$OUT" "$WORK/multi-less.json"
check "multicalls without their calls" python3 "$GOLDEN/equal_or_null.py" "$WORK/multi.json" \
	"$WORK/multi-less.json" "without pv.subcall" --expect-unknown /subcalls
run report --full "$WORK/multi.xen"
check "text" grep -qx '  in multicalls                  -' "$OUT"
finish
