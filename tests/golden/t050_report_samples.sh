# SPDX-License-Identifier: LGPL-2.1-or-later
# The form of the report: samples that have all sections between them, one of them as CSV, whose facts are those
# of JSON. Numbers are judged elsewhere: t051_report_xenalyze computes those of all samples anew,
# t054_report_formats compares the formats. All samples have their notes here.
. "$(dirname "$0")/lib.sh"

found=0
for sample in "$SAMPLES"/*.xen; do
	name=$(basename "$sample" .xen)
	found=$((found + 1))
	hz=$(known_hz "$sample")
	case $name in
	hvm-exits | lost-records | dom0-culprits) format=text ;;
	hvm-io) format=csv ;;
	*) format= ;;
	esac
	if [ "$format" ]; then
		run report --full --format "$format" --cpu-hz "$hz" "$sample"
		status 0
		cat "$ERR" >> "$OUT"
		golden "t050_report_${name}_$format" "$OUT"
	fi
	run report --format csv --cpu-hz "$hz" "$sample"
	status 0
	echo "$name:" >> "$WORK/notes"
	cat "$ERR" >> "$WORK/notes"
done
golden t050_report_notes "$WORK/notes"
check "there are samples" test "$found" -ge 4
finish
