# SPDX-License-Identifier: LGPL-2.1-or-later
# report --format html of a large trace: how a browser copes with 10^6 intervals, compared with a tenth of them. Ratios,
# as machines differ.
. "$(dirname "$0")/lib.sh"

repeat=$KSV_BUILD_DIR/bin/xentrace_repeat
if [ ! -x "$repeat" ]; then
	echo "xentrace_repeat was not built"
	exit 77
fi
"$repeat" "$SAMPLES/hvm-exits.xen" 89 "$WORK/many.xen"
"$repeat" "$SAMPLES/hvm-exits.xen" 9 "$WORK/few.xen"
run report -q -f html -o "$WORK/few.html" "$WORK/few.xen"
status 0

run report -q -f html -o "$WORK/many.html" "$WORK/many.xen"
status 0
check "at most 10 MB" test "$(stat -c %s "$WORK/many.html")" -le 10000000

browser=$(command -v chromium) || browser=
if [ -z "$browser" ]; then
	[ "$failures" = 0 ] || finish
	echo "$checks checks passed, but chromium is not installed (Debian: apt-get install chromium)"
	exit 77
fi
python3 "$GOLDEN/html_speed.py" "$browser" "$WORK/many.html" "$WORK/few.html" 10 3 3 > "$WORK/speed" || fail "no speed"
read -r n opens draws searches < "$WORK/speed"
check "about 10^6 intervals ($n)" test "$n" -ge 950000
check "ten times the intervals open in at most ten times the time ($opens)" awk "BEGIN { exit !($opens <= 10) }"
check "zooming does not depend on their number ($draws)" awk "BEGIN { exit !($draws <= 3) }"
check "nor does a search that finds much ($searches)" awk "BEGIN { exit !($searches <= 3) }"

finish
