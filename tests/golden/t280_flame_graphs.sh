# SPDX-License-Identifier: LGPL-2.1-or-later
# export --format folded and speedscope: each stack has the time of the tables, each state that of report.
. "$(dirname "$0")/lib.sh"

compared=0
# stacks_are_tables FILE [OPTION...]
stacks_are_tables()
{
	local file=$1 window=$WORK/all
	shift

	run report -q -f json "$@" "$file"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/report.json"
	rm -rf "$WORK/all" "$WORK/window"
	# VM exits may begin before the window
	run export -q -f csv-tables --worst 0 -o "$WORK/all" "$file"
	status 0
	if [ $# -gt 0 ]; then
		window=$WORK/window
		run export -q -f csv-tables --worst 0 -o "$window" "$@" "$file"
		status 0
	fi
	# the time in guest code of some
	for guest in '' ${1:+guest}; do
		for format in folded speedscope; do
			run export -q -f $format ${guest:+--all-states} "$@" "$file"
			status 0
			cp "$OUT" "$WORK/$format"
		done
		check "stacks of $file $* $guest" python3 "$GOLDEN/flame_graphs.py" "$WORK/folded" \
			"$WORK/speedscope" "$WORK/report.json" "$window" "$WORK/all" $guest \
			> "$WORK/compared"
		compared=$((compared + $(cat "$WORK/compared")))
	done
}

mapfile -t samples < <(chosen "$SAMPLES"/{hvm-exits,lost-records,saved,dom0-culprits}.xen \
	"$SAMPLES"/kvm-{host,shared,nested}.dat)
for sample in "${samples[@]}"; do
	stacks_are_tables "$sample" || fail "no report of $sample"
done
stacks_are_tables "$SAMPLES/hvm-exits.xen" --from 10ms --to 25ms || fail "no report"
stacks_are_tables "$SAMPLES/kvm-host.dat" --from 1793.3 --to 1793.7 || fail "no report"
stacks_are_tables "$SAMPLES/credit2-basic.xen" --from 1.0001 --to 2 --vcpu d1 || fail "no report"
check "there are stacks ($compared)" test "$compared" -ge "$(least 300)"

# what is not known has a frame of its own
run export -q -f folded "$SAMPLES/lost-records.xen"
check "unknown time is a frame" grep -qE '^[^;]*;[^;]*;unknown [0-9]+$' "$OUT"

# where it goes
run export -q -f folded -o "$WORK/file" "$SAMPLES/lost-records.xen"
status 0
check "nothing on standard output" test ! -s "$OUT"
run export -q -f folded -o - "$SAMPLES/lost-records.xen"
status 0
same "$OUT" "$WORK/file"
echo old > "$WORK/file"
(
	ulimit -f 1
	"$KSV_BIN" export -q -f speedscope -o "$WORK/file" "$SAMPLES/hvm-exits.xen" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
check "nothing has changed" test "$(cat "$WORK/file")" = old
run export -q -f sqlite --all-states -o "$WORK/db" "$SAMPLES/hvm-exits.xen"
status 2
says "$ERR" '--all-states requires --format folded or speedscope'

# names of others: a semicolon ends no frame, a line end no line
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ["a;b 7\nc;d 8", "</script>;\"", "=1+1"][i % 3]
json.dump(meta, open(sys.argv[2], "w"))
END
run export -q -f folded "$WORK/odd.xen"
check "escaped" grep -qF 'a\x3bb 7\x0ac\x3bd 8;' "$OUT"
check "each line is a stack" test "$(grep -cvE '^[^;]+;[^;]+;[^;]+.* [0-9]+$' "$OUT")" = 0

finish
