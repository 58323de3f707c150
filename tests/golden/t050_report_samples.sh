# SPDX-License-Identifier: LGPL-2.1-or-later
# The report on every sample, in all formats.
. "$(dirname "$0")/lib.sh"

found=0
for sample in "$SAMPLES"/*.xen; do
	name=$(basename "$sample" .xen)
	found=$((found + 1))
	for format in text csv json; do
		run report --full --format "$format" --cpu-hz 2300M "$sample"
		status 0
		cat "$ERR" >> "$OUT"
		golden "t050_report_${name}_$format" "$OUT"
	done
done
check "there are samples" test "$found" -ge 4
finish
