# SPDX-License-Identifier: LGPL-2.1-or-later
# check --format junit and tap: tests for continuous integration; results are those of its CSV.
. "$(dirname "$0")/lib.sh"

limits=(--max wake.p99=200us --max steal=1% --max 'exit[msr*].rate=100/s' --max lost.count=0
	--max migration.max=1ms --max wake.max=20ms --max 'exit.p50=9s')

# tests_are_csv LEAST ARGUMENT...: both formats have the results and the exit status of CSV; how many at least
tests_are_csv()
{
	local wanted least=$1
	shift

	run check -q -f csv "$@"
	wanted=$STATUS
	cp "$OUT" "$WORK/table.csv"
	for format in junit tap; do
		run check -q -f "$format" "$@"
		status "$wanted"
		check "$format of $*" python3 "$GOLDEN/check_tests.py" "$format" "$OUT" "$WORK/table.csv" \
			> "$WORK/compared"
		check "$format of $*: enough tests" test "$(cat "$WORK/compared")" -ge "$least"
		cp "$OUT" "$WORK/$format"
	done
}

hvm=$SAMPLES/hvm-exits.xen
printf '0.5 1 early # the first\n\n2s\n100s 101s beyond\n' > "$WORK/windows"
tests_are_csv 13 "${limits[@]}" "$hvm"
tests_are_csv 20 --per vcpu "${limits[@]}" "$hvm"
tests_are_csv 30 --windows "$WORK/windows" "${limits[@]}" "$hvm"
check "all results are there" test "$(cut -d, -f9 "$WORK/table.csv" | sort -u | tr '\n' ' ')" = \
	"exceeded result unknown within "
tests_are_csv 6 "${limits[@]}" "$SAMPLES/recording-kvm"
tests_are_csv 1 --max lost.count=0 "$SAMPLES/lost-records.xen"
tests_are_csv 2 --max steal=100% "$hvm"

# Names of others: marks of XML, directives of TAP, control characters.
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ["a]]><failure/>&\"'\nnot ok 9", "b # TODO later\x1b[31m\ufffe", "c\n1..0 # SKIP"][i % 3]
json.dump(meta, open(sys.argv[2], "w"))
END
tests_are_csv 4 --max wake.max=0ns --max steal=100% "$WORK/odd.xen"
says "$WORK/tap" 'b \# TODO later\x1b[31m'
says "$WORK/junit" '&lt;failure/&gt;&amp;&quot;'

# TAP by the reader that many use
if command -v prove > /dev/null; then
	for file in "$WORK"/odd.xen "$hvm"; do
		"$KSV_BIN" check -q -f tap --max wake.max=0ns --max steal=100% "$file" > "$WORK/t.tap"
		bad=$(grep -c '^not ok' "$WORK/t.tap")
		all=$(grep -cE '^(not )?ok' "$WORK/t.tap")
		prove --exec cat "$WORK/t.tap" > "$WORK/proved" 2>&1
		check "prove reads it: $(cat "$WORK/proved")" grep -qE "Tests: $all Failed: $bad\)" "$WORK/proved"
		check "prove finds no error" test "$(grep -c 'Parse errors' "$WORK/proved")" = 0
	done
fi

run check -f junit --affinity d1=0 "$hvm"
status 2
says "$ERR" 'junit and tap require --max'
finish
