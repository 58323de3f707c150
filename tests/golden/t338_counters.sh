# SPDX-License-Identifier: LGPL-2.1-or-later
# report --counters of a real recording: laws, a recount of what perf script prints of the same file, now or, where perf
# is not installed, when this test was written (perf 6.1), and what perf stat counted beside it.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
gunzip -c "$SAMPLES/host-counters.data.gz" > host-counters.data

# page ARGUMENT...: in page.json and page.csv; the laws hold
page()
{
	run report -q --counters --format csv "$@"
	status 0
	cp "$OUT" page.csv
	run report -q --counters --format json "$@"
	status 0
	cp "$OUT" page.json
	check "laws: $*" python3 "$GOLDEN/counters.py" laws page.json page.csv > n
}

page host-counters.data
gunzip -c "$GOLDEN/t338_perf_script.txt.gz" > script
check "recounted" python3 "$GOLDEN/counters.py" script page.json script > n
check "there were enough" test "$(cat n)" -gt 100
if command -v perf > /dev/null; then
	perf script -i host-counters.data --ns -F cpu,time,event,period,trace > script 2> said
	check "recounted by this perf" python3 "$GOLDEN/counters.py" script page.json script > n
fi
check "perf stat" python3 "$GOLDEN/counters.py" stat page.json "$SAMPLES/host-counters.stat.txt" > n
check "all of it" test "$(cat n)" = 5
check "switches that perf left out" python3 "$GOLDEN/counters.py" switches page.json > n
check "all spans" test "$(cat n)" = 1219
run report -q --counters host-counters.data
golden "$TEST" "$OUT"

# as SQL
run query -q --format csv host-counters.data "SELECT name, coalesce(pid, -1) AS pid, count(*) AS spans, sum(to_ns - from_ns),
	sum(count), sum(enabled_ns), sum(running_ns) FROM counter_span JOIN counter ON counter = id GROUP BY 1, 2 ORDER BY 1, 2"
status 0
check "as SQL" python3 "$GOLDEN/counters.py" sql page.json "$OUT" > n
check "all rows of SQL" test "$(cat n)" -gt 100

# windows side by side
cp page.json whole.json
read -r begin end < <(sed -n 's/.*"window_ns": \[\(.*\), \(.*\)\].*/\1 \2/p' whole.json)
for i in 0 1 2 3; do
	page --from $((begin + (end - begin) * i / 4))ns --to $((begin + (end - begin) * (i + 1) / 4))ns host-counters.data
	cp page.json "part$i.json"
done
check "windows" python3 "$GOLDEN/counters.py" windows whole.json part?.json > n
run report -q --counters --from 50% --to 60% host-counters.data
says "$OUT" "what was counted then is left out"

# one machine
run report -q --counters --format json --vcpu g1 host-counters.data
status 0
check "one machine" python3 - "$OUT" whole.json << 'END'
import json, sys
page, whole = (json.load(open(path)) for path in sys.argv[1:])
assert page["vcpus"] == whole["vcpus"] and page["states"] == whole["states"] and page["vcpus"]
assert {row["machine"] for row in page["machines"] + page["tasks"]} == {"g1"}
assert page["counters"] == [] and page["pcpus"] == [], page
END

# the same from what perf has compressed or sent through a pipe; other traces have none
if command -v perf > /dev/null; then
	perf inject -i host-counters.data -o injected.data 2> said
	run report -q --counters --format json injected.data
	check "injected" diff <(sed '/"file"/d' whole.json) <(sed '/"file"/d; s/injected/host-counters/' "$OUT")
fi
for trace in kvm-perf.data kvm-host.dat credit2-basic.xen; do
	run report -q --counters --format json "$SAMPLES/$trace"
	status 0
	check "$trace: unknown" grep -q '"unknown": "' "$OUT"
	check "$trace: no rows" test "$(grep -c '"counter":' "$OUT") $(grep -c '^ "[a-z]*": null' "$OUT")" = "0 7"
	run report -q --counters "$SAMPLES/$trace"
	says "$OUT" "  unknown  "
done
finish
