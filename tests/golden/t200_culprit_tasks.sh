# SPDX-License-Identifier: LGPL-2.1-or-later
# report, with the trace of a guest that takes pCPUs from others: which of its tasks did. Of dom0, and of a KVM guest.
. "$(dirname "$0")/lib.sh"

# recount HOST GUEST TEXT OPTION...: against the output of export and trace-cmd
recount()
{
	local host=$1 guest=$2 text=$3
	shift 3

	run export -q --format csv-tables -o "$WORK/tables" "$@" "$host"
	status 0
	run report -q --format csv "$@" "$host" "$guest"
	status 0
	cp "$OUT" "$WORK/report.csv"
	run report -q --format json "$@" "$host" "$guest"
	status 0
	check "recounted: ${host##*/}" python3 "$GOLDEN/culprit_tasks.py" "$OUT" "$WORK/report.csv" \
		"$WORK/tables" "$text" > "$WORK/n"
	total=$((total + $(cat "$WORK/n")))
	rm -r "$WORK/tables"
}

total=0
cp "$SAMPLES"/dom0-culprits.xen "$SAMPLES"/dom0-culprits-ftrace.dat "$WORK"
host=$WORK/dom0-culprits.xen guest=$WORK/dom0-culprits-ftrace.dat
# not aligned, its tasks are left out
run report -q --format json "$host"
check "no tasks" test "$(grep -c '"task"' "$OUT")" = 0
run align --write "$host" "$guest"
status 0
trace-cmd report -t "$guest" > "$WORK/text" 2> /dev/null
# cycles of the TSC are ns then, in both
recount "$host" "$guest" "$WORK/text" --absolute --cpu-hz 1G
recount "$host" "$guest" "$WORK/text" --absolute --cpu-hz 1G --from tsc:1240000000000 --to tsc:1242000000000
trace-cmd report -t -i "$SAMPLES/kvm-migration.dat" -i "$SAMPLES/kvm-migration-g1.dat" 2> /dev/null |
	grep '^kvm-migration-g1.dat:' > "$WORK/text"
recount "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat" "$WORK/text"
recount "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat" "$WORK/text" --from 1024.5 --to 1025.1
check "there were enough: $total" test "$total" -gt 50

# what people read
run report --full -q "$host" "$guest"
status 0
sed -n '/^d1v0/,/ran on/p; /preempted, by  /,/^guest /p' "$OUT" > "$WORK/read"
golden t200_dom0 "$WORK/read"
for format in text csv json; do
	run report -q --worst 3 --kind steal --vcpu d1 --format "$format" "$host" "$guest"
	status 0
	golden "t200_worst_$format" "$OUT"
done
# with a clock that is wrong, they are left out
sed -i 's/"offset": 0/"offset": 90000000/' "$guest.meta.json"
run report --format json "$host" "$guest"
status 0
check "no tasks with a wrong clock" test "$(grep -c '"task": ' "$OUT")" = 0
finish
