# SPDX-License-Identifier: LGPL-2.1-or-later
# why --task: what guests' tasks did and waited for, as their own traces show it, and the host's below; KVM and Xen.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/why_lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}

# tasks_of MACHINE REPORT.json GUEST N: the busiest of a guest, by their pids
tasks_of()
{
	python3 - "$@" << 'END'
import json, os, sys
machine, report, name, n = sys.argv[1:]
for guest in json.load(open(report))["guests"]:
    if os.path.basename(guest["file"]) == name:
        for task in [t for t in guest["tasks"] if t["pid"]][:int(n)]:
            print("%s:%d" % (machine, task["pid"]))
END
}

total=0
# oracle OPTION MACHINE GUEST TRACE...: the tasks of one guest; OPTION: --ns, if trace-cmd prints the host's time
oracle()
{
	local option=$1 machine=$2 guest=$3 task name
	shift 3

	name=$(basename "$guest")
	run report -q --format json "$@"
	status 0
	cp "$OUT" "$WORK/report.json"
	trace-cmd report -t -l "$guest" > "$WORK/text" 2>/dev/null
	rm -f "$WORK"/why-*.json
	for task in $(tasks_of "$machine" "$WORK/report.json" "$name" 6); do
		run why -q --format json --task "$task" --from 0 "$@"
		status 0
		cp "$OUT" "$WORK/why-$task.json"
	done
	python3 -c 'import json, sys; print(json.dumps({"answers": [answer for file in sys.argv[1:]
		for answer in json.load(open(file))["answers"]]}))' "$WORK"/why-*.json > "$WORK/why.json"
	# shellcheck disable=SC2086
	check "$name" python3 "$GOLDEN/why_tasks.py" $option "$WORK/why.json" "$WORK/text" "$WORK/report.json" \
		"$name" > "$WORK/n"
	echo "$name: stretches: $(cat "$WORK/n")"
	total=$((total + $(tail -n 1 "$WORK/n")))
}

host=$SAMPLES/kvm-host.dat
guest=$SAMPLES/kvm-guest.dat
cp "$SAMPLES"/domU.xen.{gz,meta.json} "$SAMPLES"/{domU-ftrace.dat,dom0.xen,dom0-ftrace.dat} \
	"$SAMPLES"/kvm-nosync{,-g1}.dat "$WORK"
for pair in domU.xen.gz,domU-ftrace.dat dom0.xen,dom0-ftrace.dat kvm-nosync.dat,kvm-nosync-g1.dat; do
	run align --write "$WORK/${pair%,*}" "$WORK/${pair#*,}"
	status 0
done
oracle --ns g1 "$guest" "$host" "$guest"
if ! sanitized; then
	oracle --ns g1 "$SAMPLES/kvm-migration-g1.dat" "$SAMPLES/kvm-migration.dat" \
		"$SAMPLES/kvm-migration-g1.dat"
	oracle '' g1 "$WORK/kvm-nosync-g1.dat" "$WORK/kvm-nosync.dat" "$WORK/kvm-nosync-g1.dat"
	oracle '' web "$SAMPLES/recording-kvm/host-web.dat" "$SAMPLES/recording-kvm"
	oracle '' db "$SAMPLES/recording-kvm/host-db.dat" "$SAMPLES/recording-kvm"
	oracle '' d1 "$WORK/domU-ftrace.dat" "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
fi
oracle '' d0 "$WORK/dom0-ftrace.dat" "$WORK/dom0.xen" "$WORK/dom0-ftrace.dat"
check "there were enough: $total" test "$total" -gt "$(least 1500)"

# A check that cannot fail would be none.
run report -q --format json "$host" "$guest"
cp "$OUT" "$WORK/report.json"
run why -q --format json --task g1:621 --from 0 "$host" "$guest"
cp "$OUT" "$WORK/why.json"
trace-cmd report -t -l "$guest" > "$WORK/text" 2>/dev/null
for change in 's/"who":"g1:[^"]*"/"who":"g1:x-1"/g' 's/"kind":"waking"/"kind":"preempted"/g' \
		's/"kind":"guest"/"kind":"vmm"/g' 's/"cause":"task"/"cause":"timer"/g' 's/"records":\[[0-9]*,/"records":[1,/g'; do
	tr -d ' \n' < "$WORK/why.json" | sed "$change" > "$WORK/wrong.json"
	python3 "$GOLDEN/why_tasks.py" --ns "$WORK/wrong.json" "$WORK/text" "$WORK/report.json" kvm-guest.dat \
		> "$OUT" 2>&1
	check "finds $change" test $? = 1
done

laws --task g1:hackbench-621 --worst 10 "$host" "$guest"
laws --task g1:613 --worst 10 --kind blocked,wake "$host" "$guest"
if ! sanitized; then
	laws --task g1:rcu_preempt --from 1794 --to 1794.2 "$guest" "$host"
	laws --task web:rcu_preempt --worst 20 --kind wake,steal,blocked,exit "$SAMPLES/recording-kvm"
	laws --task d1:labload-102 --worst 10 --kind wake,steal,blocked "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
	laws --task d0:rcu_preempt --worst 10 --kind wake,blocked "$WORK/dom0.xen" "$WORK/dom0-ftrace.dat"
	# vCPUs and pCPUs, with the tasks of their guests
	laws --worst 10 "$host" "$guest"
fi
laws --vcpu d1v1 --from 1 --to 1.05 "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
laws --pcpu 0-3 --from 1794 --to 1794.02 "$host" "$guest"

# What it looks like.
run why -q --task g1:kworker/1:1-35 --worst 2 "$host" "$guest"
status 0
sed "s,$SAMPLES/,," "$OUT" > "$WORK/text"
golden t170_kvm "$WORK/text"
run why -q --task d1:labload-102 --worst 1 --kind blocked "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
status 0
sed "s,$WORK/,," "$OUT" > "$WORK/text"
golden t170_xen "$WORK/text"
run why -q --task g1:613 --at 1795.08164 "$host" "$guest"
status 0
says "$OUT" "waking, waits for g1v0, which g1:hackbench-619 has"
run why -q --task g1:621 --worst 1 --format svg -o "$WORK/why.svg" "$host" "$guest"
status 0
check "drawn" grep -q "hackbench-621" "$WORK/why.svg"

# In any way of naming it.
for name in g1:hackbench-621 g1:621; do
	run why -q --task "$name" --worst 3 "$guest" "$host"
	status 0
	cp "$OUT" "$WORK/${name##*-}"
done
same "$WORK/621" "$WORK/g1:621"

# What is asked must be a question.
while read -r message wrong; do
	# shellcheck disable=SC2086
	run why -q $wrong "$host" "$guest"
	status 2
	says "$ERR" "${message//_/ }"
	check "$wrong: nothing is written" test ! -s "$OUT"
done << 'END'
no_machine --task hackbench-621 --worst 1
no_such_task_in_the_given_traces --task g1:nobody --worst 1
no_such_task_in_the_given_traces --task g1:idle-0 --worst 1
no_such_task_in_the_given_traces --task web:621 --worst 1
tasks_have_this_name --task g1:hackbench --worst 1
only_one_of_--vcpu,_--task_and_--pcpu --task g1:621 --vcpu g1v0 --worst 1
--worst_excludes_--pcpu_and_--at --task g1:621 --worst 1 --at 1
the_time_is_outside_the_trace --task g1:621 --at 1
END
run why -q --task g1:621 --worst 1 "$host"
status 2
says "$ERR" "give the aligned trace of a guest"
run why -q --task g1:621 --worst 1 "$guest"
status 3
run why -q --task g1:621 --worst 1 -o "$guest" "$host" "$guest"
status 2
finish
