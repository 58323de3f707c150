# SPDX-License-Identifier: LGPL-2.1-or-later
# report --format html of a large trace: what it costs, compared with report; how a browser copes with 10^6 intervals,
# compared with a tenth of them. Ratios, as machines differ.
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

# cpu_of ARGUMENT...: milliseconds of CPU time, the least of three
cpu_of()
{
	python3 - "$KSV_BIN" "$@" << 'END'
import resource, subprocess, sys
times, before = [], 0
for _ in range(3):
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    times.append(usage.ru_utime + usage.ru_stime - before)
    before += times[-1]
print(round(1000 * min(times)))
END
}
report=$(cpu_of report -q "$WORK/many.xen")
page=$(cpu_of report -q -f html -o "$WORK/many.html" "$WORK/many.xen")
check "at most twice the time of report ($page and $report ms)" test "$page" -le $((2 * report))
check "at most 10 MB" test "$(stat -c %s "$WORK/many.html")" -le 10000000

browser=$(command -v chromium) || browser=
if [ -z "$browser" ]; then
	[ "$failures" = 0 ] || finish
	echo "$checks checks passed, but chromium is not installed (Debian: apt-get install chromium)"
	exit 77
fi
python3 "$GOLDEN/html_speed.py" "$browser" "$WORK/many.html" "$WORK/few.html" > "$WORK/speed" || fail "no speed"
read -r n opens draws searches <<< "$(tr '\n' ' ' < "$WORK/speed" | awk '{ print $1, $2 / $6, $3 / $7, $4 / $8 }')"
check "about 10^6 intervals ($n)" test "$n" -ge 950000
check "ten times the intervals open in at most ten times the time ($opens)" awk "BEGIN { exit !($opens <= 10) }"
check "zooming does not depend on their number ($draws)" awk "BEGIN { exit !($draws <= 3) }"
check "nor does a search that finds much ($searches)" awk "BEGIN { exit !($searches <= 3) }"

finish
