# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What the tests of CPU quotas share. To be sourced after lib.sh.

# recounted MOMENTS [alone]: what why, the worst moments, the tables and report (in $WORK/report.json) say of the trace $T is
# what quota_oracle.py counts in trace-cmd's text
recounted()
{
	run why -q -f json --worst 200 --kind steal "$T"
	status 0
	cp "$OUT" "$WORK/why.json"
	run report -q -f csv --worst "$1" "$T"
	status 0
	cp "$OUT" "$WORK/worst.csv"
	run export -q -f csv-tables -o "$WORK/tables" "$T"
	status 0
	command -v trace-cmd > /dev/null || return 0
	trace-cmd report -t "$T" > "$WORK/text" 2> "$WORK/said"
	check "recounted" python3 "$GOLDEN/quota_oracle.py" "$WORK/text" "$T.meta.json" "$WORK" "${@:2}"
}
