# SPDX-License-Identifier: LGPL-2.1-or-later
# compare: what is said, in each format and as the exit status, of baselines that there is no percentage
# of, of numbers at the end of the range, of too few values, and of many differences together.
. "$(dirname "$0")/lib.sh"

transcript=$WORK/transcript

# verdicts STATUS ARGUMENT...: compare the table in all formats, with the same exit status
verdicts()
{
	local expected=$1 format

	shift
	for format in json csv text; do
		run compare --values "$WORK/values.csv" --format $format "$@"
		status "$expected"
		[ $format = json ] && cp "$OUT" "$WORK/json"
		[ $format = csv ] && cp "$OUT" "$WORK/csv"
	done
	check "JSON has the numbers of CSV" python3 - "$WORK/json" "$WORK/csv" <<'END'
import csv
import json
import sys
rows = list(csv.DictReader(open(sys.argv[2])))
statistics = [{"metric": metric["metric"], **statistic}
              for metric in json.load(open(sys.argv[1]))["metrics"] for statistic in metric["statistics"]]
assert len(rows) == len(statistics) > 0
for row, statistic in zip(rows, statistics):
    row = {name: text for name, text in row.items() if text}
    assert row.keys() == statistic.keys(), (row, statistic)
    for name, text in row.items():
        value = statistic[name]
        assert text == value if isinstance(value, str) else float(text) == value, (name, row, statistic)
END
	{
		printf '$ %s\n' "$*"
		cat "$OUT" "$WORK/csv"
		grep -E '"joint"' "$WORK/json" | sed 's/^ *//'
		echo "[$STATUS]"
	} >> "$transcript"
}

python3 - > "$WORK/values.csv" <<'END'
print("run,metric,value")
state = 1


def near(center, spread, n):
    global state
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        yield center + spread * ((state >> 33) / 2 ** 31 - 0.5)


def put(run, metric, values):
    for value in values:
        print("%s,%s,%.9g" % (run, metric, value))


# a share that was none; many values of 0; the same, but for one value
put("old", "steal_percent", [0] * 10)
put("new", "steal_percent", near(15.8, 6, 10))
put("old", "errors", [0] * 30)
put("new", "errors", near(30, 8, 30))
put("old", "rare", [0] * 30)
put("new", "rare", [0] * 29 + [5])
# as large as numbers are, and so small that there is no percentage of it
put("old", "huge", [3e307] * 10)
put("new", "huge", near(1.2e308, 2e307, 10))
put("old", "wide", [-1.7e308, 1.7e308] * 5)
put("new", "wide", [1.7e308, -1.7e308] * 5)
put("old", "tiny", [1e-310] * 10)
put("new", "tiny", near(5, 1, 10))
# a mean near 0, so that its percentage is anything
put("old", "balance", near(0, 10, 30))
put("new", "balance", near(9, 10, 30))
# p99 is the highest of 30, and p90 is not; of 100, it is not either
put("old", "latency", near(100, 40, 30))
put("new", "latency", near(140, 40, 30))
put("old", "many", near(100, 40, 100))
put("new", "many", near(100, 40, 120))
# very few
put("old", "three", [1, 1.1, 1.2])
put("new", "three", [1.05, 1.1, 1.2])
put("old", "two_of_0", [0, 0])
put("new", "two_of_0", [1, 2])
put("old", "same", [7, 7, 7, 7])
put("new", "same", [7, 7, 7, 7])
END

for metric in steal_percent errors rare huge wide tiny balance; do
	case $metric in
	rare | wide) expected=0 ;;
	*) expected=1 ;;
	esac
	verdicts $expected --metric $metric --statistic mean,stddev,p50
done
verdicts 1 --metric latency --statistic p90,p99
verdicts 4 --metric latency --statistic p99
verdicts 4 --metric latency --statistic p99 --percentiles linear
# a statistic with a verdict does not hide one without
verdicts 4 --metric 'latency,many' --statistic p99
verdicts 0 --metric many --statistic p99
verdicts 1 --metric 'three,latency' --statistic p75
verdicts 0 --metric three --statistic mean
verdicts 4 --metric three --statistic stddev
verdicts 0 --metric 'two_of_0,same' --statistic mean,p50
# all together: fewer differences are found, and the output states how sure that is
verdicts 1 --statistic mean --joint
verdicts 1 --metric steal_percent --statistic mean --joint
# more sure than the number of divisions allows by itself
verdicts 1 --metric 'errors,three' --statistic mean,p50 --confidence 99.9 --resamples 100
golden t091_compare_verdicts "$transcript"

# A plot in per cent of the baseline says in words what there are no per cent of.
run compare --values "$WORK/values.csv" --metric 'errors,latency' --statistic mean \
	--plot "$WORK/plot.svg"
status 1
check "from 0" test "$(grep -c 'from-zero' "$WORK/plot.svg")" = 1
says "$WORK/plot.svg" '0 -&gt; 30.2'

finish
