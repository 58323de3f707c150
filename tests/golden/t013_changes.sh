# SPDX-License-Identifier: LGPL-2.1-or-later
# A file that is cut or written anew while it is read: what was read is there, and it is said.
. "$(dirname "$0")/lib.sh"

sample=$SAMPLES/credit2-basic.xen
run dump --quiet --format csv "$sample"
status 0
mv "$OUT" "$WORK/whole"

# dump_while ARGUMENT...: dump writes into a pipe, and so has not got beyond what fits into that when
# $WORK/trace.xen is changed by the function "change"
dump_while()
{
	cp "$sample" "$WORK/trace.xen"
	mkfifo "$WORK/pipe"
	("$KSV_BIN" dump --format csv "$@" "$WORK/trace.xen" >"$WORK/pipe" 2>"$ERR"
	 echo $? >"$WORK/status") &
	{
		IFS= read -r line
		change
		printf '%s\n' "$line"
		cat
	} <"$WORK/pipe" >"$OUT"
	wait
	rm "$WORK/pipe"
	STATUS=$(cat "$WORK/status")
}

# changed ARGUMENT...: what is written is right: whole lines that were there, as long as it goes on
changed()
{
	dump_while "$@"
	status 3
	check "not everything" test "$(wc -l <"$OUT")" -lt "$(wc -l <"$WORK/whole")"
	check "something" test "$(wc -l <"$OUT")" -gt 1
	check "only what was there" test -z "$(sort "$OUT" | comm -23 - "$WORK/sorted")"
}

goes_on()
{
	dump_while "$@"
	status 0
	same "$OUT" "$WORK/whole"
}

sort "$WORK/whole" >"$WORK/sorted"
size=$(stat -c %s "$sample")

change() { truncate -s 0 "$WORK/trace.xen"; }
changed --quiet
says "$ERR" "trace.xen: has changed since it was opened (was $size bytes, now 0)"
check "said once" test "$(wc -l <"$ERR")" = 1

change() { truncate -s 1000000 "$WORK/trace.xen"; }
changed
says "$ERR" "(was $size bytes, now 1000000)"

change() { cat "$SAMPLES/pinned.xen" >"$WORK/trace.xen"; }
changed --quiet
says "$ERR" "has changed since it was opened"

change() { cat "$sample" "$sample" >"$WORK/longer"; tail -c +5 "$WORK/longer" >"$WORK/trace.xen"; }
changed --quiet
says "$ERR" "has changed since it was opened"

# Going on with a recording is no harm, and another file of that name none of our business.
change() { cat "$SAMPLES/pinned.xen" >>"$WORK/trace.xen"; }
goes_on
says "$ERR" "has grown since it was opened"
change() { cp "$SAMPLES/pinned.xen" "$WORK/other"; mv "$WORK/other" "$WORK/trace.xen"; }
goes_on
change() { rm "$WORK/trace.xen"; }
goes_on

# Whichever read finds the file cut: that is said, never that an option is wrong, and no figures of a
# trace of which nothing was read.
cc -shared -fPIC -o "$WORK/cut.so" "$KSV_SOURCE_DIR/tests/hostile/cut.c"
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
cut_at() # READ ARGUMENT...
{
	cp "$sample" "$WORK/trace.xen"
	CUT_AT=$1 CUT_FILE=$WORK/trace.xen CUT_SIZE=5000 LD_PRELOAD=$WORK/cut.so \
		"$KSV_BIN" "${@:2}" --quiet "$WORK/trace.xen" >"$OUT" 2>"$ERR"
	STATUS=$?
}
reads=0
for ((n = 1; ; n += 7)); do
	cut_at $n plot --format csv
	[ "$(stat -c %s "$WORK/trace.xen")" = 5000 ] || break
	reads=$n
	for arguments in 'plot --format csv' 'report --format csv' 'check --affinity d1=0-3'; do
		# shellcheck disable=SC2086
		cut_at $n $arguments
		status 3
		says "$ERR" 'has changed since it was opened'
		[ ! -s "$OUT" ] || [[ $arguments = check* ]] ||
			check "figures of what was read" grep -q 'd[0-9]v[0-9]' "$OUT"
	done
done
check "it was cut often enough" test $reads -gt 50

finish
