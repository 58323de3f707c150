# SPDX-License-Identifier: LGPL-2.1-or-later
# Many hosts in two shards of ClickHouse: what they answer is what the files of each host have.
. "$(dirname "$0")/lib.sh"

FLEET=$KSV_SOURCE_DIR/examples/fleet
SEED=7
for tool in clickhouse-server clickhouse-client; do
	if ! command -v $tool > /dev/null; then
		echo "$TEST: skipped: $tool is not there; Debian 12 has it, and starts it when it is installed"
		exit 77
	fi
done

# What no server is needed for.
for script in up down load ask condense demo; do
	"$FLEET/$script" --help > "$OUT" 2>&1
	check "$script prints its usage" grep -q "^$script\|| $script" "$OUT"
done
"$FLEET/ask" > "$OUT"
check "ten questions" test "$(wc -l < "$OUT")" = 10
"$FLEET/ask" 11 2> "$ERR"
says "$ERR" 'there is no such question'
"$FLEET/ask" 4 2> "$ERR"
says "$ERR" 'give FROM, TO and AT'
"$FLEET/ask" 1 "2026'" 2> "$ERR"
says "$ERR" 'not a moment'

# Two free ports; another process may take them before the servers do.
for try in 1 2 3 4 5; do
	FLEET_SHARDS=$(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(" ".join("127.0.0.1:%d" % one.getsockname()[1] for one in sockets))')
	export FLEET_SHARDS
	"$FLEET/up" "$WORK/shards" > "$WORK/up" 2>&1 && break
	grep -q 'Address already in use' "$WORK/up" || break
done
trap '"$FLEET/down" "$WORK/shards" 2> /dev/null; rm -rf "$WORK"' EXIT
check "the shards are up" test -f "$WORK/shards/shards" || { cat "$WORK/up"; finish; }
check "they are not started once more" bash -c '! "$1/up" "$2" 2> "$3"' - "$FLEET" "$WORK/shards" "$ERR"
says "$ERR" 'is in use'

# A made-up fleet, and every sample as a host of its own.
"$KSV_MAKE_FLEET" 30 120 $SEED > "$WORK/rows" || fail "no fleet"
check "the same seed, the same fleet" cmp -s "$WORK/rows" <("$KSV_MAKE_FLEET" 10 120 $SEED
	"$KSV_MAKE_FLEET" 20 120 $SEED 10)
n=0
mapfile -t samples < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.dat)
for sample in "${samples[@]}"; do
	run rollup --quiet --host "sample'$n" --start-time 1795514400 --format clickhouse "$sample"
	[ "$STATUS" = 0 ] || continue
	n=$((n + 1))
	cat "$OUT" >> "$WORK/rows"
done
check "there are samples ($n)" test "$n" -ge "$(least 25)"
check "all rows are loaded" "$FLEET/load" < "$WORK/rows"
# a file that is sent once more, and half of one
check "once more" "$FLEET/load" < "$WORK/rows"
check "a part once more" "$FLEET/load" < <(head -n 1000 "$WORK/rows")

at=1795514460
mkdir "$WORK/answers"
export FLEET_FORMAT=TabSeparated
for question in "$FLEET"/questions/*.sql; do
	name=$(basename "$question" .sql)
	check "$name is answered" "$FLEET/ask" "$name" 2026-11-24 2026-11-25 \
		'2026-11-24 10:01:00' > "$WORK/answers/$name.tsv"
done
check "answers are those of the rows" python3 "$GOLDEN/fleet_answers.py" "$WORK/rows" \
	"$WORK/answers" $at > "$WORK/compared"
check "there are answers ($(cat "$WORK/compared"))" test "$(cat "$WORK/compared")" -ge 120
"$FLEET/ask" wake-p99 2026-11-25 2026-11-26 > "$OUT"
check "another day has nothing" test ! -s "$OUT"

# Hours, made twice.
ask()
{
	clickhouse-client --host 127.0.0.1 --port "${FLEET_SHARDS##*:}" --query "$1"
}
check "hours" "$FLEET/condense" 2026-11-24
check "hours once more" "$FLEET/condense" 2026-11-24
ask "SELECT machine, ifNull(sum(preempted_ns), 0), sumIf(length_ns, isNotNull(preempted_ns)),
	sumIf(length_ns, isNotNull(waking_ns)), sumIf(length_ns, isNotNull(migrations)), sum(length_ns),
	tupleElement(sumMap(wake_length_bucket, wake_length_count), 2) FROM rollup FINAL WHERE vcpu >= 0 GROUP BY machine ORDER BY machine" \
	> "$WORK/seconds"
ask "SELECT machine, sumMerge(preempted_ns), sumMerge(preempted_length_ns),
	sumMerge(waking_length_ns), sumMerge(migrations_length_ns), sumMerge(length_ns),
	tupleElement(sumMapMerge(wake_length), 2) FROM rollup_hour GROUP BY machine ORDER BY machine" \
	> "$WORK/hours"
check "some waits are unknown" awk -F '\t' '$4 < $6 { found = 1 } END { exit !found }' "$WORK/seconds"
check "there are machines" test "$(wc -l < "$WORK/seconds")" -ge 50
same "$WORK/seconds" "$WORK/hours"

# Rows that are none.
check "a damaged row is refused" bash -c '! echo "a	b" | "$1/load" 2> "$2"' - "$FLEET" "$ERR"
check "the shards are down" "$FLEET/down" "$WORK/shards"
check "nothing is left of them" test ! -e "$WORK/shards"

# Data of others stays.
mkdir -p "$WORK/mine/2" "$WORK/mine/2026"
check "a folder that is in use" bash -c '! "$1/up" "$2" 2> "$3"' - "$FLEET" "$WORK/mine" "$ERR"
says "$ERR" 'mine/2: is there already'
check "nothing was started" test ! -e "$WORK/mine/shards"
sleep 1000 &
mine=$!
echo $mine > "$WORK/mine/shards"
check "what 'up' has not started goes on" "$FLEET/down" "$WORK/mine"
check "it does" kill -0 $mine
kill $mine
check "so do its files" test -d "$WORK/mine/2026"

finish
