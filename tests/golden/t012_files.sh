# SPDX-License-Identifier: LGPL-2.1-or-later
# Where the trace may come from and where the output may go.
. "$(dirname "$0")/lib.sh"

sample=$SAMPLES/hvm-exits.xen
run dump --quiet --format csv "$sample"
status 0
mv "$OUT" "$WORK/plain"

gzip -c "$sample" > "$WORK/trace.xen.gz"
run dump --quiet --format csv "$WORK/trace.xen.gz"
status 0
same "$OUT" "$WORK/plain"
if command -v zstd > /dev/null; then
	zstd -qc "$sample" > "$WORK/trace.zst"
	run dump --quiet --format csv "$WORK/trace.zst"
	status 0
	same "$OUT" "$WORK/plain"
fi
cat "$sample" | "$KSV_BIN" dump --quiet --format csv - > "$OUT"
same "$OUT" "$WORK/plain"
mkfifo "$WORK/fifo"
cat "$sample" > "$WORK/fifo" &
run dump --quiet --format csv "$WORK/fifo"
status 0
same "$OUT" "$WORK/plain"
wait

run dump --quiet --format csv --output "$WORK/written" "$sample"
status 0
check "nothing on stdout" test ! -s "$OUT"
same "$WORK/written" "$WORK/plain"
run dump --quiet --output - --format csv "$sample"
same "$OUT" "$WORK/plain"

# The trace itself must survive.
cp "$sample" "$WORK/trace.xen"
ln "$WORK/trace.xen" "$WORK/other"
run dump --output "$WORK/other" "$WORK/trace.xen"
status 2
same "$WORK/trace.xen" "$sample"

# A full disk is an error, a reader that goes away is none.
if [ -e /dev/full ]; then
	for format in text csv json; do
		"$KSV_BIN" dump --quiet --format "$format" "$sample" > /dev/full 2> "$ERR"
		STATUS=$?
		status 3
		says "$ERR" "standard output: cannot write: No space left on device"
	done
	"$KSV_BIN" dump --list-events > /dev/full 2> "$ERR"
	STATUS=$?
	status 3
	"$KSV_BIN" dump --help > /dev/full 2> "$ERR"
	STATUS=$?
	status 3
fi
("$KSV_BIN" dump --format csv "$sample" 2> "$ERR"; echo $? > "$WORK/status") | head -1 > "$OUT"
STATUS=$(cat "$WORK/status")
status 0
check "one line was read" test "$(cat "$OUT")" = "$(head -1 "$WORK/plain")"
check "and nothing is said" test ! -s "$ERR"

# Damage is reported once, on stderr, and can be silenced.
head -c 500001 "$sample" > "$WORK/cut.xen"
run dump --format csv --output "$WORK/cut.csv" "$WORK/cut.xen"
status 0
check "a note on the damage" grep -q "$WORK/cut.xen" "$ERR"
check "the good part is there" test "$(wc -l < "$WORK/cut.csv")" -gt 20000
run dump --quiet --format csv "$WORK/cut.xen"
same "$OUT" "$WORK/cut.csv"
check "no note" test ! -s "$ERR"

finish
