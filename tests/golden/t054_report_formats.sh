# SPDX-License-Identifier: LGPL-2.1-or-later
# One report says the same as text, CSV and JSON; and the list of the worst moments as the report.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

# formats NAME ARGUMENT...: the three of them, in $WORK
formats()
{
	local name=$1

	shift
	for format in text csv json; do
		run report --full --quiet --format "$format" "$@"
		status 0
		cp "$OUT" "$WORK/$name.$format"
	done
	check "$name: text, CSV and JSON" python3 "$GOLDEN/report_formats.py" \
		"$WORK/$name.text" "$WORK/$name.csv" "$WORK/$name.json"
}

formats xen --from 1.2 --to 1.5 credit2-basic.xen
# traces that show all numbers; t211_not_recorded has those that do not
samples='credit2-4.20 credit2-basic dom0 hvm-exits hvm-io lost-records pinned sched-credit'
! sanitized || samples='lost-records hvm-io'
for sample in $samples; do
	formats "$sample" "$sample.xen"
done
formats hvm_part --from 2.3 --to 2.4 --vcpu d1v1 hvm-exits.xen
formats kvm kvm-host.dat kvm-guest.dat
formats kvm_part --from 1023.3 --to 1023.5 kvm-shared.dat

samples='credit2-basic.xen hvm-exits.xen lost-records.xen kvm-host.dat kvm-shared.dat'
! sanitized || samples='lost-records.xen kvm-shared.dat'
for sample in $samples; do
	run report --quiet --format json $sample
	check "$sample: windows of the report are those of the worst moments" \
		python3 "$GOLDEN/report_windows.py" "$KSV_BIN" $sample "$OUT"
done

# The windows of which dock and report once said different things.
run report --quiet --format json --cpu-hz 2300M --vcpu d0v1 --from 1.2 --to 1.5 credit2-basic.xen
check "14 wake-ups" python3 -c 'import json, sys
wake = json.load(open(sys.argv[1]))["machines"][0]["vcpus"][0]["wake_latency"]
assert (wake["count"], wake["complete"], wake["p50_ns"]) == (14, 14, 2514850), wake
assert (wake["before"], wake["before_ns"]) == (1, 2249781), wake' "$OUT"
run report --quiet --format json --cpu-hz 2300M --vcpu d2v0 --from 1.230 --to 1.231 credit2-basic.xen
check "one wake-up, whole" python3 -c 'import json, sys
wake = json.load(open(sys.argv[1]))["machines"][0]["vcpus"][0]["wake_latency"]
assert wake["count"] == 1 and wake["max_ns"] > 17e6 and wake["total_ns"] < 1e6, wake' "$OUT"
finish
