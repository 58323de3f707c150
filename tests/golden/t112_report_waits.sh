# SPDX-License-Identifier: LGPL-2.1-or-later
# report --waits: what ended each wait; formats agree, and causes add up to the time blocked.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

for sample in kvm-host.dat hvm-exits.xen credit2-4.20.xen; do
	run report --quiet --waits "$sample"
	status 0
	golden "t112_waits_${sample%.*}" "$OUT"
done

# agree SAMPLE ARGUMENT...: the three formats, and the report itself
agree()
{
	for format in json csv text; do
		run report --quiet --waits --format "$format" "$@"
		status 0
		cp "$OUT" "$WORK/waits.$format"
	done
	run report --quiet --format json "$@"
	status 0
	check "$*: all say the same" python3 "$KSV_SOURCE_DIR/tests/golden/report_waits.py" \
		"$WORK/waits.json" "$WORK/waits.csv" "$WORK/waits.text" "$OUT"
}

for sample in *.xen kvm-host.dat kvm-nested.dat kvm-ptp.dat kvm-shared.dat; do
	agree "$sample"
done
agree --from 1794 --to 1795 --vcpu g1v1 kvm-host.dat
agree recording-kvm
check "there are two machines" test "$(grep -c '"wakers"' "$WORK/waits.json")" = 2

run report --waits --worst 3 kvm-host.dat
status 2
finish
