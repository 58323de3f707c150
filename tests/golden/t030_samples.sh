# SPDX-License-Identifier: LGPL-2.1-or-later
# The first and the last rows of the samples as text, and the notes on them. t011_formats compares all rows of
# some samples in all formats, t040_xenalyze all of them with xenalyze.
. "$(dirname "$0")/lib.sh"

found=0
for sample in "$SAMPLES"/*.xen; do
	name=$(basename "$sample" .xen)
	found=$((found + 1))
	hz=$(known_hz "$sample")
	run dump --cpu-hz "$hz" "$sample"
	status 0
	{
		head -30 "$OUT"
		echo ...
		tail -30 "$OUT"
		wc -l < "$OUT"
		cat "$ERR"
	} > "$WORK/ends"
	golden "t030_${name}" "$WORK/ends"
	# the other formats have a row for each of these lines, too, and the same notes
	n=$(wc -l < "$OUT")
	cp "$ERR" "$WORK/notes"
	for format in csv json; do
		run dump --format "$format" --cpu-hz "$hz" "$sample"
		status 0
		same "$WORK/notes" "$ERR"
		check "$name: as many rows as $format" test "$(grep -vc '^tsc,' "$OUT")" = "$n"
	done
done
check "there are samples" test "$found" -ge 4
finish
