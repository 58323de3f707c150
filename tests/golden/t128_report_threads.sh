# SPDX-License-Identifier: LGPL-2.1-or-later
# report --threads: what works for machines beside their vCPUs; formats agree, and nothing is counted twice.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

for sample in kvm-host.dat recording-kvm; do
	run report --quiet --threads "$sample"
	status 0
	golden "t128_threads_${sample%.*}" "$OUT"
done

# agree ARGUMENT...: the formats, and the report itself
agree()
{
	for format in json csv text; do
		run report --quiet --threads --format "$format" "$@"
		status 0
		cp "$OUT" "$WORK/threads.$format"
	done
	run report --quiet --format json "$@"
	status 0
	check "$*: all say the same" python3 "$KSV_SOURCE_DIR/tests/golden/report_threads.py" \
		"$WORK/threads.json" "$WORK/threads.csv" "$WORK/threads.text" "$OUT"
}

for sample in $(chosen kvm-*.dat); do
	case $sample in *-g1.dat | *-n1.dat | *-db.dat | *-web.dat | kvm-guest.dat | kvm-functions-*.dat) continue ;; esac
	agree "$sample"
done
agree recording-kvm
agree --from 1794 --to 1795 kvm-host.dat
agree hvm-exits.xen

run report --threads --waits kvm-host.dat
status 2
# the monitor's own threads that take a vCPU's pCPU are named as its
run report --quiet --worst 5 --kind steal kvm-ptp.dat
status 0
check "the report says whose thread took the pCPU" \
	grep -q "g1's vhost-1306, its own machine's, had the pCPU" "$OUT"
run why --vcpu g1v1 --from 531.268016784 --to 531.277996573 kvm-ptp.dat
status 0
check "why shows it, too" grep -q "which g1's vhost-1306 of its own machine has" "$OUT"
finish
