# SPDX-License-Identifier: LGPL-2.1-or-later
# report --handlers: what interrupted vCPUs on their pCPUs, as the records say it.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

run report --quiet --handlers kvm-host.dat
status 0
golden t129_handlers_kvm-host "$OUT"

for sample in kvm-host.dat kvm-migration.dat kvm-ptp.dat kvm-shared.dat; do
	for format in json csv text; do
		run report --quiet --handlers --format "$format" "$sample"
		status 0
		cp "$OUT" "$WORK/handlers.$format"
	done
	trace-cmd report -t "$sample" > "$WORK/host.txt" 2> "$WORK/stderr.host"
	check "$sample: as the records tell" python3 \
		"$KSV_SOURCE_DIR/tests/golden/handlers_oracle.py" "$WORK/handlers.json" \
		"$WORK/handlers.csv" "$WORK/handlers.text" "$WORK/host.txt"
done

# a trace without such events, one of Xen, one vCPU alone
run report --quiet --handlers recording-kvm
status 0
check "nothing is told of what is not in the trace" \
	test "$(grep -c 'the trace shows no handler' "$OUT")" = 4
run report --quiet --handlers hvm-exits.xen
status 0
run report --quiet --handlers --vcpu g1v1 kvm-host.dat
status 0
check "only what was asked for" test "$(grep -c 'interrupted by' "$OUT")" = 1
run report --handlers --threads kvm-host.dat
status 2
finish
