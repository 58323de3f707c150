# SPDX-License-Identifier: LGPL-2.1-or-later
# What would fill the disk or take for ever, and options that ask for nothing.
. "$(dirname "$0")/lib.sh"

# small, for speed; what is behind its last window does not matter here
sample=$WORK/small.xen
head -c 60000 "$SAMPLES/hvm-exits.xen" >"$sample"
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
run dump --quiet --format csv "$sample"
mv "$OUT" "$WORK/plain"

# Without an end, and no trace: it is noticed long before the disk is full.
run dump /dev/zero
status 3
says "$ERR" "/dev/zero: not a xentrace file: no window of records in the first"
"$KSV_BIN" report --full - </dev/zero >"$OUT" 2>"$ERR"
STATUS=$?
status 3
says "$ERR" "not a xentrace file"
run report --full /dev/full
status 3

# A bomb; and one that begins as a trace does.
{ cat "$sample"; head -c 300000000 /dev/zero; } | gzip -c >"$WORK/bomb.gz"
run dump "$WORK/bomb.gz"
status 3
says "$ERR" "as no trace does; if it is one, allow that with --max-input"
head -c 20000000 /dev/zero | gzip -c1 >"$WORK/zero.gz"
run dump "$WORK/zero.gz"
status 3
says "$ERR" "not a xentrace file"

# The limit is the user's.
gzip -c "$sample" >"$WORK/trace.gz"
size=$(stat -c %s "$sample")
run dump --max-input "$((size - 1))" "$WORK/trace.gz"
status 3
says "$ERR" "trace.gz: more than $((size - 1)) bytes when unpacked; if that is right, allow more with"
"$KSV_BIN" dump --max-input 50K - <"$WORK/trace.gz" >"$OUT" 2>"$ERR"
STATUS=$?
status 3
says "$ERR" "more than 51200 bytes when unpacked"
for option in "$size" 1M 2MiB 1gb; do
	run dump --quiet --format csv --max-input "$option" "$WORK/trace.gz"
	status 0
	same "$OUT" "$WORK/plain"
done
# what lies there to be read needs no limit
run dump --quiet --format csv --max-input 1 "$sample"
status 0
XEN_MAX_INPUT=1000 run dump "$WORK/trace.gz"
status 3
XEN_MAX_INPUT=1000 run dump --max-input 1M "$WORK/trace.gz"
status 0
for option in 0 x 1X -1 '' 99999999999999999999 16E 1.5G; do
	run dump --max-input "$option" "$WORK/trace.gz"
	status 2
	says "$ERR" "--max-input $option: not a number of bytes"
done
XEN_MAX_INPUT=many run dump "$WORK/trace.gz"
status 2
says "$ERR" "XEN_MAX_INPUT=many"
for command in report check plot compare view align; do
	"$KSV_BIN" $command --help >"$OUT"
	says "$OUT" --max-input
done
run report --full --max-input 1000 "$WORK/trace.gz"
status 3
# without plugins, nothing is read, and the writer would wait for ever
some_plugins
mkfifo "$WORK/fifo"
cat "$sample" >"$WORK/fifo" 2>/dev/null &
run view --dry-run --max-input 1000 "$WORK/fifo"
wait
status 3
says "$ERR" "more than 1000 bytes"
check "nothing is left" test -z "$(ls -A "$TMPDIR")"

# Packed in other ways: in pieces as pzstd does, with a window of 2 GiB.
if command -v zstd >/dev/null; then
	{
		printf '\x50\x2a\x4d\x18\x04\0\0\0\x12\x34\x56\x78'
		head -c 40000 "$sample" | zstd -qc
		printf '\x5f\x2a\x4d\x18\x01\0\0\0\x12'
		tail -c +40001 "$sample" | zstd -qc
	} >"$WORK/pieces.zst"
	run dump --quiet --format csv "$WORK/pieces.zst"
	status 0
	same "$OUT" "$WORK/plain"
	# the window counts only for data without a size
	zstd -qc --long=31 <"$sample" >"$WORK/long.zst"
	run dump --quiet --format csv "$WORK/long.zst"
	status 0
	same "$OUT" "$WORK/plain"
	# the address sanitizer maps more than any limit
	if ! sanitized; then
		(ulimit -v 1000000 && "$KSV_BIN" dump "$WORK/long.zst" >"$OUT" 2>"$ERR")
		STATUS=$?
		status 3
		says "$ERR" "Cannot allocate memory"
	fi
	# nothing but a beginning
	head -c 20 "$WORK/pieces.zst" >"$WORK/begin.zst"
	run dump "$WORK/begin.zst"
	status 3
	says "$ERR" "corrupt compressed data: not a byte can be unpacked"
	head -c 12 "$WORK/pieces.zst" >"$WORK/empty.zst"
	run dump "$WORK/empty.zst"
	status 3
	says "$ERR" "the file is empty"
fi

# A window that ends before it begins is a mistake everywhere.
for command in dump report plot "check --affinity d1=0"; do
	# shellcheck disable=SC2086
	run $command --from 0.1 --to 0.05 "$sample"
	status 2
	says "$ERR" "--from"
	check "nothing is shown" test ! -s "$OUT"
done
run dump --from tsc:999999999999999 --to 0.1s "$sample"
status 2
run dump --format csv --from 0.1 --to 0.1 "$sample"
status 2

# Switches in the environment.
for word in 1 yes Yes TRUE on; do
	XEN_ABSTS=$word run dump --quiet --format csv "$sample"
	status 0
	check "absolute" test "$(sed -n 2p "$OUT" | cut -d, -f2)" -gt 1000000000
done
for word in 0 no NO false off ''; do
	XEN_ABSTS=$word run dump --quiet --format csv "$sample"
	status 0
	same "$OUT" "$WORK/plain"
done
XEN_ABSTS=maybe run dump "$sample"
status 2
says "$ERR" "XEN_ABSTS=maybe: neither 1, yes, true or on nor 0, no, false or off"

finish
