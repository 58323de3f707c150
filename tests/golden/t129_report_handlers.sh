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
	check "$sample: as the records show" python3 \
		"$KSV_SOURCE_DIR/tests/golden/handlers_oracle.py" "$WORK/handlers.json" \
		"$WORK/handlers.csv" "$WORK/handlers.text" "$WORK/host.txt"
done

# a trace without such events, one of Xen, one vCPU alone
run report --quiet --handlers recording-kvm
status 0
check "each vCPU's handlers are unknown" test "$(grep -c '^  -$' "$OUT")" = 4
says "$OUT" 'handlers: unknown, as irq was not recorded'
run report --quiet --handlers --format json recording-kvm
check "null in JSON" python3 -c 'import json, sys
assert [v["handlers"] for v in json.load(open(sys.argv[1]))["vcpus"]] == [None] * 4' "$OUT"
run report --quiet --handlers --format csv recording-kvm
check "no row in CSV" test "$(wc -l < "$OUT")" = 1
run report --quiet --handlers hvm-exits.xen
status 0
says "$OUT" 'the trace shows no handler'
# without records of switches, migrations and other tasks are unknown
for page in migrations threads; do
	run report --quiet --$page --format json hypertrace-aggregated.dat
	check "$page without sched_switch" python3 -c 'import json, sys
page = sys.argv[2]
groups = json.load(open(sys.argv[1]))["vcpus" if page == "migrations" else "machines"]
assert groups and all(group[page] is None for group in groups), groups' "$OUT" $page
done
run report --quiet --handlers --vcpu g1v1 kvm-host.dat
status 0
check "only what was asked for" test "$(grep -c 'interrupted by' "$OUT")" = 1
run report --handlers --threads kvm-host.dat
status 2
finish
