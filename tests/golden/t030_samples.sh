# SPDX-License-Identifier: LGPL-2.1-or-later
# The first and the last rows of the samples, in all formats, and the notes on them.
. "$(dirname "$0")/lib.sh"

found=0
for sample in "$SAMPLES"/*.xen; do
	name=$(basename "$sample" .xen)
	found=$((found + 1))
	for format in text csv json; do
		run dump --format "$format" --cpu-hz 2300M "$sample"
		status 0
		{
			head -50 "$OUT"
			echo ...
			tail -50 "$OUT"
			wc -l < "$OUT"
			cat "$ERR"
		} > "$WORK/ends"
		golden "t030_${name}_$format" "$WORK/ends"
	done
done
check "there are samples" test "$found" -ge 4
finish
