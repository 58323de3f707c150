# SPDX-License-Identifier: LGPL-2.1-or-later
# --vcpu means the same in every command: names and ids select the same vCPUs; an item that the trace does not have
# is an error that lists the others.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

# commands that write what they select, and how
commands=("report -f json" "report" "why --worst 1"
	  "check --max steal=99% --per vcpu" "plot -f csv" "top --once -f csv" "diff --at 78"
	  "rollup --host h --start-time 2026-01-01T00:00:00Z -f csv")
for command in "${commands[@]}"; do
	for name in g1v0 "web v0" web:0 g1:0 "g1:web v0"; do
		# shellcheck disable=SC2086
		run $command -q --vcpu "$name" recording-kvm
		[ "$name" = g1v0 ] && cp "$OUT" "$WORK/wanted" && wanted=$STATUS
		check "$command --vcpu $name: status $STATUS" test "$STATUS" = "$wanted" -a "$STATUS" -lt 2
		same "$OUT" "$WORK/wanted"
	done
	check "$command selects something" test -s "$WORK/wanted"
	# shellcheck disable=SC2086
	run $command -q --vcpu web,g2v1 recording-kvm
	cp "$OUT" "$WORK/listed"
	# shellcheck disable=SC2086
	run $command -q --vcpu g1v0 --vcpu "db v1" --vcpu "web v1" recording-kvm
	same "$OUT" "$WORK/listed"
	for wrong in g1v9 nobody g1v0,web:2; do
		# shellcheck disable=SC2086
		run $command -q --vcpu "$wrong" recording-kvm
		status 2
		says "$ERR" "--vcpu ${wrong##*,}: recording-kvm/host.dat has no such vCPU or machine; it has"
		says "$ERR" "web v0, web v1, db v0, db v1"
		check "$command --vcpu $wrong: nothing is written" test ! -s "$OUT"
	done
done
run export -q -f csv-tables -o "$WORK/tables" --vcpu nobody recording-kvm
status 2
check "no tables" test ! -e "$WORK/tables"
run export -q -f csv-tables -o "$WORK/tables" --vcpu db recording-kvm
status 0

# dump has the names of a sidecar
run dump -q --vcpu d1 recording-xen
cp "$OUT" "$WORK/wanted"
check "there are records" test "$(wc -l < "$OUT")" -gt 1000
run dump -q --vcpu burny recording-xen
status 0
same "$OUT" "$WORK/wanted"
for wrong in d1v9 nobody; do
	run dump -q --vcpu "$wrong" recording-xen
	status 2
	says "$ERR" "has no such vCPU or machine; it has"
	check "nothing" test ! -s "$OUT"
done
# between two traces, a vCPU may be in one of them only
run diff -q --vcpu d2 pinned.xen credit2-basic.xen
check "one of both has it" test "$STATUS" -lt 2
run diff -q --vcpu d7 pinned.xen credit2-basic.xen
status 2
finish
