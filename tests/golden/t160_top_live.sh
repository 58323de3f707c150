# SPDX-License-Identifier: LGPL-2.1-or-later
# top of what is still being recorded: a pipe has the results of the file, and of the end no more than
# is known by then.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/top_lib.sh"

KNOWN=$GOLDEN/top_known.py
TRACE=$WORK/trace.xen

# take SAMPLE: in $TRACE, unpacked; $SIDE is its sidecar, for a pipe, $HZ its frequency
take()
{
	rm -f "$TRACE" "$TRACE.meta.json"
	SIDE=()
	HZ=$(known_hz "$1")
	case $1 in
	*.gz) zcat "$1" > "$TRACE";;
	*) cp "$1" "$TRACE";;
	esac
	[ -e "${1%.gz}.meta.json" ] || return 0
	cp "${1%.gz}.meta.json" "$TRACE.meta.json"
	SIDE=(--sidecar "$TRACE.meta.json")
}

# pipe MOST OPTION...: what top prints of $TRACE, which comes in pieces of at most MOST bytes
pipe()
{
	local most=$1
	shift

	python3 "$GOLDEN/feed.py" "$TRACE" 7 "$most" |
		"$KSV_BIN" top --quiet "${SIDE[@]}" "$@" - > "$OUT" 2> "$ERR"
	STATUS=$?
}

# plain FORMAT FILE: without what a pipe does not know: its name, and percentiles of all at once
plain()
{
	case $1 in
	openmetrics) without_notes "$1" "$2" | grep -v '^kshark_virt_wake_p99_seconds{' | sort;;
	*) without_notes "$1" "$2";;
	esac
}

# is_file MOST OPTION...: a pipe of $TRACE has the results of the file, in all formats
is_file()
{
	local most=$1 format
	shift

	for format in text csv json openmetrics; do
		run top --quiet --format $format "$@" "$TRACE"
		status 0
		plain $format "$OUT" > "$WORK/file"
		notes_of $format "$OUT" > "$WORK/file.notes"
		pipe "$most" --format $format "$@" --hold "${HOLD:-1000}"
		status 0
		check "stderr is empty" test ! -s "$ERR"
		plain $format "$OUT" > "$WORK/piped"
		same "$WORK/file" "$WORK/piped"
		notes_of $format "$OUT" > "$WORK/piped.notes"
		same "$WORK/file.notes" "$WORK/piped.notes"
	done
}

# has_rows N: are there more in what has been written so far?
has_rows()
{
	test "$(grep -c . "$OUT")" -gt "$1"
}

# soon COMMAND: wait until it succeeds; the caller checks the result
soon()
{
	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.1
	done
}

samples=0
rows=0
intervals=0
mapfile -t traces < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.xen.gz)
for sample in "${traces[@]}"; do
	take "$sample"
	# when all is held back, all is known
	is_file 50000 --interval 100ms
	# and what is known a while after each interval is what a trace shows that ends there
	HOLD=200ms is_file 9000 --interval 500ms --cpu-hz "$HZ" --hold 200ms
	pipe 100000 --format csv --interval 500ms --cpu-hz "$HZ" --hold 200ms
	cp "$OUT" "$WORK/live.csv"
	check "$sample: intervals are as known by then" python3 "$KNOWN" "$TRACE" "$WORK/live.csv" \
		"$HZ" 200000000 "$WORK" > "$WORK/compared"
	read -r n m < "$WORK/compared"
	[[ $n =~ ^[0-9]+$ ]] || continue
	rows=$((rows + n))
	intervals=$((intervals + m))
	samples=$((samples + 1))
done
check "there are samples ($samples)" test "$samples" -ge "$(least 12)"
check "with intervals ($intervals)" test "$intervals" -ge "$(least 120)"
check "and rows ($rows)" test "$rows" -ge "$(least 4000)"

# What is not known in time is counted and has no length; with more time, it has.
take "$SAMPLES/hvm-exits.xen"
pipe 4096 -f csv --interval 100ms --cpu-hz "$HZ" --hold 0
# exits_of FILE: how many of a CSV, and how many of these are complete
exits_of()
{
	cut -d, -f5,7,9 "$1" | awk -F, '$1 == "exits" { n += $2; c += $3 } END { print n, c }'
}
exits_of "$OUT" > "$WORK/none"
pipe 4096 -f csv --interval 100ms --cpu-hz "$HZ" --hold 1000
exits_of "$OUT" > "$WORK/all"
read -r n0 c0 < "$WORK/none"
read -r n1 c1 < "$WORK/all"
check "all exits are counted ($n0, $n1)" test "$n0" = "$n1"
check "some take longer ($c0, $c1)" test "$c0" -lt "$c1"

# Only some vCPUs; only the first interval; absolute times.
take "$SAMPLES/credit2-basic.xen"
is_file 30000 --interval 300ms --vcpu d1v0,d2
is_file 30000 --interval 300ms --absolute
pipe 30000 -f csv --once --interval 300ms --hold 1000
cp "$OUT" "$WORK/once"
run top -q -f csv --once --interval 300ms "$TRACE"
same "$OUT" "$WORK/once"

# Counters are those of the sums; a file has them as a whole, whenever it is looked at.
take "$SAMPLES/pinned.xen"
mkfifo "$WORK/pipe"
"$KSV_BIN" top -q -f openmetrics --interval 100ms --hold 100ms --cpu-hz "$HZ" "${SIDE[@]}" \
	-o "$WORK/virt.prom" "$WORK/pipe" 2> "$ERR" &
top=$!
exec 5> "$WORK/pipe"
head -c 900000 "$TRACE" >&5
soon test -s "$WORK/virt.prom"
check "there are counters before the end" test "$(tail -n 1 "$WORK/virt.prom")" = '# EOF'
cp "$WORK/virt.prom" "$WORK/early"
tail -c +900001 "$TRACE" >&5
exec 5>&-
wait $top
check "it ends with the pipe" test $? = 0
check "nothing is said" test ! -s "$ERR"
# total FILE: ms of all vCPUs
total()
{
	awk '/^kshark_virt_state_seconds_total/ { s += $2 } END { printf "%d", s * 1000 }' "$1"
}
check "they have grown" test "$(total "$WORK/virt.prom")" -gt $(($(total "$WORK/early") + 1000))
run top -q -f openmetrics --hold 100ms --interval 100ms --cpu-hz "$HZ" "$TRACE"
sort "$OUT" > "$WORK/all"
sort "$WORK/virt.prom" > "$WORK/last"
same "$WORK/all" "$WORK/last"

# Without a writer: it says so; a signal ends it, and what is written is whole.
"$KSV_BIN" top -f json --interval 100ms --hold 100ms --cpu-hz "$HZ" "$WORK/pipe" \
	> "$OUT" 2> "$ERR" &
top=$!
soon grep -q 'waiting for records: no data for 5 s' "$ERR"
says "$ERR" 'waiting for records: no data for 5 s'
exec 5> "$WORK/pipe"
head -c 900000 "$TRACE" >&5
soon grep -q '"to_ns": 400000000' "$OUT"
kill -HUP $top
wait $top
check "SIGHUP is an end" test $? = 0
exec 5>&-
check "lines are whole" python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$OUT"

# Half-way: nothing has the file's name that is not whole.
"$KSV_BIN" top -q -f csv --interval 100ms --hold 100ms --cpu-hz "$HZ" -o "$WORK/half.csv" \
	"$WORK/pipe" 2> "$ERR" &
top=$!
exec 5> "$WORK/pipe"
head -c 900000 "$TRACE" >&5
kill -KILL $top
wait $top 2> /dev/null
exec 5>&-
check "no half file" test ! -e "$WORK/half.csv"
echo old > "$WORK/full.csv"
(
	ulimit -f 8
	"$KSV_BIN" top -q -f csv --interval 10ms -o "$WORK/full.csv" - < "$TRACE" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
check "nothing has changed" test "$(cat "$WORK/full.csv")" = old
# counters that cannot be written are tried again, more and more rarely, and in the end
"$KSV_BIN" top -q -f openmetrics -o "$WORK/missing/x" --interval 20ms --cpu-hz "$HZ" - < "$TRACE" \
	2> "$ERR"
check "a folder that is not there is an error" test $? = 3
n=$(grep -c 'missing/x: cannot write' "$ERR")
check "it is tried again, and not each time ($n)" test "$n" -ge 3 -a "$n" -le 12
"$KSV_BIN" top -f openmetrics -o "$WORK/virt.prom" --cpu-hz "$HZ" - < "$TRACE" 2> "$ERR"
says "$ERR" 'standard input: has ended, after '
# the same of a disk that is full
(
	ulimit -f 0
	exec "$KSV_BIN" top -q -f openmetrics -o "$WORK/full.prom" --interval 20ms --cpu-hz "$HZ" - < "$TRACE" 2>&1
) | cat > "$ERR"
check "a full disk is an error in the end" test "${PIPESTATUS[0]}" = 3
n=$(grep -c 'full.prom: cannot write' "$ERR")
check "it is tried again, too ($n)" test "$n" -ge 3 -a "$n" -le 12

# A file that grows.
head -c 800000 "$TRACE" > "$WORK/grows.xen"
"$KSV_BIN" top -q -f csv --follow --interval 100ms --hold 100ms --cpu-hz "$HZ" "$WORK/grows.xen" \
	> "$OUT" 2> "$ERR" &
top=$!
soon has_rows 20
before=$(grep -c . "$OUT")
tail -c +800001 "$TRACE" >> "$WORK/grows.xen"
soon has_rows $((before + 20))
check "it goes on ($before rows)" has_rows $((before + 20))
kill -TERM $top
wait $top
check "SIGTERM is an end" test $? = 0

# A recording that is under way: its trace is waited for, and followed until it has ended.
mkdir "$WORK/recording"
state()
{
	printf '{ "recording_version": 1, "hypervisor": "%s", "state": "%s", "files": [ %s ] }\n' "$@" \
		> "$WORK/recording/new.json"
	mv "$WORK/recording/new.json" "$WORK/recording/recording.json"
}
state xen recording ''
"$KSV_BIN" top -f csv --interval 100ms --hold 100ms --cpu-hz "$HZ" "$WORK/recording" \
	> "$OUT" 2> "$ERR" &
top=$!
soon grep -q 'waiting for it' "$ERR"
says "$ERR" 'host.xen: waiting for it'
head -c 800000 "$TRACE" > "$WORK/recording/host.xen"
soon has_rows 20
tail -c +800001 "$TRACE" >> "$WORK/recording/host.xen"
state xen complete '{ "name": "host.xen", "role": "host" }'
wait $top
check "it ends with the recording" test $? = 0
cp "$OUT" "$WORK/followed"
run top -q -f csv --interval 100ms --hold 100ms --cpu-hz "$HZ" "$WORK/recording"
same "$OUT" "$WORK/followed"

# What is wrong.
says_of()
{
	"$KSV_BIN" top -q - > "$OUT" 2> "$ERR"
	STATUS=$?
	status "$1"
	says "$ERR" "$2"
}
says_of 3 'has ended without a record' < /dev/null
head -c 2000000 /dev/zero | says_of 3 'not a trace of xentrace'
says_of 3 'is compressed' < "$SAMPLES/domU.xen.gz"
says_of 3 'has ended without a record' < <(head -c 7 "$TRACE")
for wrong in '--from 1' '--to 1' '--correct-skew' '--interval 9ms' '--hold tsc:3'; do
	# shellcheck disable=SC2086
	run top $wrong -
	status 2
done
run top --sidecar "$WORK/missing.json" -
status 3
head -c 123457 "$TRACE" > "$WORK/cut.xen"
"$KSV_BIN" top -f csv - < "$WORK/cut.xen" > "$OUT" 2> "$ERR"
check "a cut trace is reported" test $? = 0
says "$ERR" truncated

# Names of others: quotes, line ends, escapes, no UTF-8.
take "$SAMPLES/saved.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ("a,\"b'c\nd\\", "\x1b[31mred\x07", "=1+1", "\u202eevil")[i % 4]
text = json.dumps(meta, ensure_ascii=False).encode()
open(sys.argv[2], "wb").write(text.replace(b"red", b"re\xff\xfed"))
END
cp "$WORK/odd.json" "$TRACE.meta.json"
is_file 65536 --interval 1
for format in text csv json openmetrics; do
	pipe 65536 -f $format --interval 1
	check "no control characters in $format" test -z "$(tr -d '\n\40-\176\200-\377' < "$OUT")"
done

# How much can be read at once makes no difference: a file shows no more of a loss than a pipe when an interval is
# printed.
{ head -c 70000 "$SAMPLES/lost-records.xen"; tail -c +80001 "$SAMPLES/lost-records.xen"; } > "$WORK/cut.xen"
for hold in 1ms 50ms; do
	live=(top --quiet --format csv --interval 20ms --cpu-hz 1G "--hold=$hold")
	"$KSV_BIN" "${live[@]}" - < "$WORK/cut.xen" > "$WORK/file" 2> "$ERR"
	for most in 1000 65536; do
		python3 "$GOLDEN/feed.py" "$WORK/cut.xen" 7 "$most" | "$KSV_BIN" "${live[@]}" - > "$WORK/piped" 2> "$ERR"
		same "$WORK/file" "$WORK/piped"
	done
done

finish
