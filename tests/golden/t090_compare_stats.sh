# SPDX-License-Identifier: LGPL-2.1-or-later
# compare --values: tables of benchmark results; all numbers as Python and GNU datamash have them.
. "$(dirname "$0")/lib.sh"

values=$WORK/values.csv
oracle=$GOLDEN/compare_oracle.py
python3 "$oracle" make "$values" || exit 1

# Percentiles of a latency benchmark by tracing configuration.
run compare --values "$values" --metric latency_us
status 1
golden t090_compare_latency "$OUT"
# Harmonic means of a throughput benchmark with percent against the baseline, for 1 and 8 threads.
run compare --values "$values" --metric '* thread*' --statistic hmean
status 1
golden t090_compare_threads "$OUT"

for how in nearest linear; do
	run compare --values "$values" --format csv --percentiles $how
	status 1
	check "$how: as Python has it" python3 "$oracle" check "$values" "$OUT" $how baseline
done
run compare --values "$values" --format csv --baseline both --seed 7
status 1
check "another baseline" python3 "$oracle" check "$values" "$OUT" nearest both

# The same twice, and with another seed the same values with other intervals.
run compare --values "$values" --format csv
cp "$OUT" "$WORK/first"
run compare --values "$values" --format csv
same "$OUT" "$WORK/first"
run compare --values "$values" --format csv --seed 2
check "another seed" test "$(cmp "$OUT" "$WORK/first" > /dev/null; echo $?)" = 1
check "the same values" test "$(cut -d, -f 1-5 "$OUT" | md5sum)" = \
	"$(cut -d, -f 1-5 "$WORK/first" | md5sum)"
# The order of runs does not change what is said of each.
run compare --values "$values" --format csv --runs 'both,baseline,host traced' --baseline baseline
check "order" test "$(grep -E ',(both|host traced),' "$OUT" | sort | md5sum)" = \
	"$(grep -E ',(both|host traced),' "$WORK/first" | sort | md5sum)"

if command -v datamash > /dev/null; then
	sed 1d "$values" | datamash -t, --sort -g 2,1 mean 3 sstdev 3 perc:50 3 perc:75 3 \
		perc:90 3 perc:95 3 perc:99 3 > "$WORK/datamash" || fail "datamash"
	run compare --values "$values" --format csv --percentiles linear \
		--statistic mean,stddev,p50,p75,p90,p95,p99
	awk -F, -v wanted="$WORK/datamash" '
		function near(a, b) { return a - b < 1e-8 * b && b - a < 1e-8 * b }
		BEGIN {
			split("mean stddev p50 p75 p90 p95 p99", name, " ")
			while ((getline < wanted) > 0)
				for (i = 3; i <= NF; i++)
					number[$1 "," $2 "," name[i - 2]] = $i
		}
		NR > 1 {
			n++
			# too few values: a percentile would be the highest of them
			if ($5 == "" && ($3 == "p95" && $4 < 20 || $3 == "p99" && $4 < 100))
				next
			if (!near($5, number[$1 "," $2 "," $3])) {
				print $0 " instead of " number[$1 "," $2 "," $3]
				bad = 1
			}
		}
		END { exit bad || n != 105 }' "$OUT" || fail "not as datamash has it"
	checks=$((checks + 1))
else
	echo "no datamash: percentiles are compared with Python alone"
fi

run compare --values "$values" --metric latency_us --format json
check "JSON" python3 - "$OUT" "$WORK/first" <<'END'
import csv, json, sys
data = json.load(open(sys.argv[1]))
rows = {(row["run"], row["statistic"]): row for row in csv.DictReader(open(sys.argv[2]))
        if row["metric"] == "latency_us"}
assert data["baseline"] == "baseline" and data["percentiles"] == "nearest"
assert [metric["metric"] for metric in data["metrics"]] == ["latency_us"]
for number in data["metrics"][0]["statistics"]:
    row = rows.pop((number["run"], number["statistic"]))
    del row["metric"]
    for name, text in row.items():
        if not text:
            assert name not in number, (name, number)
        elif name in ("run", "statistic", "verdict"):
            assert number[name] == text
        else:
            assert abs(number[name] - float(text)) < 1e-9, (name, number, text)
for run in data["metrics"][0]["runs"]:
    assert ("sentence" in run) == (run["run"] != "baseline")
assert not rows, rows
END

# Results of a real machine that other work was going on: nothing can be said of them.
run compare --values "$SAMPLES/kvm-durations.csv" --runs none,host,guest,both --statistic mean,hmean
status 0
golden t090_compare_noise "$OUT"
run compare --values "$SAMPLES/kvm-durations.csv" --baseline warmup --metric guest_s
status 4
says "$OUT" "one value does not show the noise"

# What would take too long for its size has fewer divisions, which is said, or is refused.
# table RUNS METRICS VALUES: numbers that differ little
table()
{
	awk -v runs="$1" -v metrics="$2" -v values="$3" 'BEGIN {
		print "run,metric,value"
		for (i = 0; i < runs * metrics * values; i++)
			print "r" i % runs ",m" int(i / runs) % metrics "," 100 + i * 7919 % 4999 % 17
	}' > "$WORK/table.csv"
}

# resamples NUMBER: what the last JSON says
resamples()
{
	check "$1 divisions" grep -q "\"resamples\": *$1," "$OUT"
}

table 2 60 20
run compare --values "$WORK/table.csv" --statistic mean --format json
resamples 2000
check "no note" test ! -s "$ERR"
if ! sanitized; then
	table 8 120 20
	run compare --values "$WORK/table.csv" --format json
	resamples 1280
	says "$ERR" "divided again 1280 times instead of 2000, because there are 840 differences"
	run compare --values "$WORK/table.csv" --format json --runs r0,r1
	resamples 2000
fi
table 64 150 7
run compare --values "$WORK/table.csv"
status 2
says "$ERR" "9450 differences of these values take too long"
run compare --values "$WORK/table.csv" --format json --metric 'm1' --resamples 1000
resamples 1000
table 2 500 12
run compare --values "$WORK/table.csv" --joint
status 2
says "$ERR" "500 differences to be sure of together of these values take too long"

finish
