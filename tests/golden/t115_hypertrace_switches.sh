# SPDX-License-Identifier: LGPL-2.1-or-later
# What a guest reported by hypercalls, plain and packed, is what its own ftrace recorded: one switch with one.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "$TEST: no trace-cmd here"
	exit 77
fi
compare=$KSV_SOURCE_DIR/samples/record/kvm/hypertrace.py
for mode in plain packed; do
	check "$mode" python3 "$compare" "$SAMPLES/hypertrace-$mode.dat" \
		"$SAMPLES/hypertrace-$mode-g1.dat" > "$WORK/$mode"
	says "$WORK/$mode" " 0 missing, 0 lost"
	check "$mode: $(cat "$WORK/$mode")" \
		grep -qE '^the same: [1-9][0-9]{2,} switches one to one' "$WORK/$mode"
done
# a comparison that cannot fail would be none
! python3 "$compare" "$SAMPLES/hypertrace-plain.dat" "$SAMPLES/hypertrace-packed-g1.dat" \
	> "$WORK/other" || fail "the switches of another guest are taken for the same"
says "$WORK/other" "different: 0 switches one to one"
# an honest guest is not accused, however late its host recorded a call
for mode in plain packed; do
	run report --quiet --hypertrace "$SAMPLES/hypertrace-$mode.dat"
	status 0
	check "$mode: in order" test "$(grep -c 'out of order' "$OUT")" = 0
done
finish
