# SPDX-License-Identifier: LGPL-2.1-or-later
# report, with traces of guests: what time their tasks really had, and on which pCPUs; of KVM and of Xen.
. "$(dirname "$0")/lib.sh"

# tasks_of WORD ARGUMENT...: a report of what that is, whose tasks add up
tasks_of()
{
	local word=$1

	shift
	run report -q --format csv "$@"
	status 0
	cp "$OUT" "$WORK/report.csv"
	run report -q --format json "$@"
	status 0
	check "tasks add up: ${*##*/}" python3 "$GOLDEN/guest_tasks.py" "$OUT" "$WORK/report.csv" $word > "$WORK/n"
	total=$((total + $(cat "$WORK/n")))
}

total=0
cp "$SAMPLES"/domU.xen.{gz,meta.json} "$SAMPLES"/domU-ftrace.dat "$SAMPLES"/kvm-nosync{,-g1}.dat "$WORK"
for pair in domU.xen.gz,domU-ftrace.dat kvm-nosync.dat,kvm-nosync-g1.dat; do
	run align --write "$WORK/${pair%,*}" "$WORK/${pair#*,}"
	status 0
	tasks_of '' "$WORK/${pair%,*}" "$WORK/${pair#*,}"
done
# and those that trace-cmd has aligned
tasks_of '' "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat"
tasks_of '' "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
# where the guest's trace covers all
tasks_of complete --from 1793.3 --to 1795.2 "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
tasks_of complete --from 1 --to 2 "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
tasks_of complete --from 1.4999 --to 1.5001 "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
check "there were enough: $total" test "$total" -gt 80

run report --full -q "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
sed -n '/^guest /,/^$/p' "$OUT" > "$WORK/text"
golden t127_xen "$WORK/text"
# without its trace, nothing is said of a guest
run report -q --format json "$WORK/domU.xen.gz"
check "no guests" test "$(grep -c '"guests"' "$OUT")" = 0
finish
