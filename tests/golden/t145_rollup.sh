# SPDX-License-Identifier: LGPL-2.1-or-later
# Rows of rollup: of all samples, they add up to the numbers of report for the whole.
. "$(dirname "$0")/lib.sh"

SUMS=$KSV_SOURCE_DIR/tests/golden/rollup_sums.py
START=1795514400.123456789
START_NS=1795514400123456789
HOST="h'1,\\"

# sums_are_report INTERVAL_NS FILE OPTION...
sums_are_report()
{
	local interval=$1 file=$2 format
	local common=(--quiet --host "$HOST" --start-time $START)
	shift 2

	run report --quiet --format json "$@" "$file"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/report.json"
	run report --quiet --format json "$file"
	cp "$OUT" "$WORK/all.json"
	for format in csv clickhouse; do
		run rollup "${common[@]}" --format $format --interval "${interval}ns" "$@" "$file"
		status 0
		check "stderr is empty" test ! -s "$ERR"
		cp "$OUT" "$WORK/rollup.$format"
	done
	run rollup "${common[@]}" --interval 3000000000 "$@" "$file"
	check "$file $* by $interval is report's" python3 "$SUMS" "$WORK/report.json" \
		"$WORK/all.json" "$WORK/rollup.csv" "$WORK/rollup.clickhouse" "$OUT" "$HOST" \
		"$interval" $START_NS > "$WORK/compared"
	read -r n intervals < "$WORK/compared"
	[[ $n =~ ^[0-9]+$ ]] || return 0
	compared=$((compared + n))
	cut=$((cut + (intervals > 2)))
}

compared=0
found=0
cut=0
mapfile -t samples < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.xen.gz "$SAMPLES"/*.dat)
for sample in "${samples[@]}"; do
	if sums_are_report 100000000 "$sample"; then
		found=$((found + 1))
		continue
	fi
	# of guests alone there is nothing
	run rollup -q --host h --start-time 0 "$sample"
	status 3
done
check "there are samples ($found)" test "$found" -ge "$(least 25)"
check "in several intervals ($cut)" test "$cut" -ge "$(least 20)"
check "there are numbers ($compared)" test "$compared" -ge "$(least 2000)"
sums_are_report 7000000 "$SAMPLES/kvm-host.dat" --from 1793.3 --to 1793.7 || fail "no report"
sums_are_report 300000000 "$SAMPLES/credit2-basic.xen" --from 1 --to 2 --vcpu d1 || fail "no report"
sums_are_report 1000000000 "$SAMPLES/lost-records.xen" || fail "no report"

# The sidecar of xen-meta has the date; --start-time overrides it.
run rollup -q --host lab -f csv "$SAMPLES/recording-xen"
status 0
grep -v _length "$OUT" > "$WORK/without"
golden t145_rollup "$WORK/without"
run rollup -q --host lab -f csv --start-time 2026-11-24T10:00:00.5Z "$SAMPLES/recording-xen"
check "the time that was given" grep -q '^lab,1795514400500000000,1795514400000000000,500000000,' \
	"$OUT"

# Several recordings of a host.
cp -r "$SAMPLES/recording-xen" "$WORK/copy"
run rollup -q --host lab -f clickhouse "$SAMPLES/recording-xen" "$WORK/copy"
status 0
cp "$OUT" "$WORK/both"
run rollup -q --host lab -f clickhouse "$SAMPLES/recording-xen"
check "one after the other" cmp -s "$WORK/both" <(cat "$OUT" "$OUT")

# What is wrong.
run rollup --host h
status 2
run rollup "$SAMPLES/pinned.xen"
status 2
says "$ERR" 'give --host'
run rollup --host h "$SAMPLES/pinned.xen"
status 2
says "$ERR" 'pinned.xen: its start time is unknown: give --start-time'
check "nothing is written" test ! -s "$OUT"
run rollup --host h --start-time 5 "$SAMPLES/pinned.xen" "$SAMPLES/saved.xen"
status 2
says "$ERR" 'a single file'
for start in 2026-11-24 2026-11-24T10:00:00 2026-13-24T10:00:00Z 2026-11-24T10:00:00.Z -5 5x 1e9 \
	4294967296 1969-12-31T23:59:59Z 2026-11-24T10:00:00.1234567890Z ''; do
	run rollup --host h --start-time "$start" "$SAMPLES/pinned.xen"
	status 2
	says "$ERR" 'not a moment from 1970 to 2106'
done
run rollup --host h --start-time 4294967295 "$SAMPLES/pinned.xen"
status 3
says "$ERR" 'not recorded between 1970 and 2106'
for interval in 0 tsc:5 1x; do
	run rollup --host h --start-time 5 --interval $interval "$SAMPLES/pinned.xen"
	status 2
done
run rollup --host h --start-time 5 --interval 1ns "$SAMPLES/pinned.xen"
status 2
says "$ERR" 'with losses are too many: for '
# times that are farther apart than a time can be
python3 "$GOLDEN/scale_files.py" xen_far_times 50 "$WORK/far.xen" > "$WORK/n"
run rollup --host h --start-time 5 --cpu-hz 1G "$WORK/far.xen"
status 2
# the highest of pCPUs, in a file of next to nothing
python3 "$GOLDEN/long_and_wide.py" 1 "$WORK/wide.xen" 32767
run rollup --host h --start-time 5 --cpu-hz 1G "$WORK/wide.xen"
status 2
says "$ERR" 'intervals of 2 machines, vCPUs and pCPUs with losses are too many'
(ulimit -t 5; "$KSV_BIN" rollup -q --host h --start-time 5 --cpu-hz 1G --interval 20 "$WORK/wide.xen" > "$OUT")
check "pCPUs without losses take no time" test $? = 0
run rollup --host h --start-time 5 --cpu-hz 1G "$WORK/far.xen"
status 2
run rollup --host h --start-time 3000000000 --cpu-hz 1G --interval 1000000 "$WORK/far.xen"
status 3
says "$ERR" 'not recorded between 1970 and 2106'
run rollup --host h --start-time 5 "$SAMPLES/README.md"
status 3
cp "$SAMPLES/pinned.xen" "$WORK/own.xen"
run rollup --host h --start-time 5 -o "$WORK/own.xen" "$WORK/own.xen"
status 2
same "$WORK/own.xen" "$SAMPLES/pinned.xen"
echo old > "$WORK/file"
(
	ulimit -f 8
	"$KSV_BIN" rollup -q --host h --start-time 5 --interval 1ms -o "$WORK/file" \
		"$SAMPLES/credit2-basic.xen" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
check "nothing has changed" test "$(cat "$WORK/file")" = old
# the second one cannot be read: nothing of the first one is there, either
run rollup -q --host lab -o "$WORK/file" "$SAMPLES/recording-xen" "$SAMPLES/README.md"
status 3
check "nothing has changed" test "$(cat "$WORK/file")" = old

# Names of others: quotes, line ends.
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for domain in meta["domains"]:
    domain["name"] = "a,\"b'c\nd\\\te"
json.dump(meta, open(sys.argv[2], "w"))
END
sums_are_report 50000000 "$WORK/odd.xen" || fail "no report"

# without the class hvm, VM exits are unknown, and not none
python3 "$GOLDEN/xen_less.py" "$SAMPLES/hvm-exits.xen" "$WORK/sched.xen" 'event >> 16 != 8 or 0x10f000'
run rollup --quiet --host h --start-time 0 "$WORK/sched.xen"
check "unknown exits" grep -q ',exit,unknown,,,,$' "$OUT"
run rollup --quiet --host h --start-time 0 "$SAMPLES/hvm-exits.xen"
check "known exits" sh -c '! grep -q ",exit,unknown," "$1"' - "$OUT"
finish
