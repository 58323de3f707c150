# SPDX-License-Identifier: LGPL-2.1-or-later
# compare --results: outputs of benchmarks as they are on disk. Values are those that the programs printed, or
# that Python reads; directions, conditions and what was not recognised are shown.
. "$(dirname "$0")/lib.sh"

oracle=$GOLDEN/results_oracle.py
results=$SAMPLES/results
others=$SAMPLES/results-formats

run compare --results "$results" --results "others=$others" --format csv
status 1
for name in none events; do
	check "$name: as Python reads the files" python3 "$oracle" values "$results" "$OUT" $name
done
says "$ERR" "results: cyclictest JSON (12 files), cyclictest (12 files), hackbench (12 files), sysbench (12 files)"
says "$ERR" "hyperfine.txt"
says "$ERR" "cyclictest-above.txt: cyclictest.latency: 172 samples are above the histogram: record with a larger -h"
says "$ERR" "perf-stat.csv: perf.cycles: <not supported>"
run compare --results "$results" --results "others=$others" --format csv --percentiles linear
check "as the programs print" python3 "$oracle" printed "$others" "$OUT" others
run compare --results "$SAMPLES/mmtests" --format csv
check "as MMTests prints" python3 "$oracle" mmtests "$SAMPLES/mmtests-table.txt" "$OUT"
run compare --results "$SAMPLES/mmtests-table.txt" --statistic mean --metric '*mean*'
status 4
golden t096_compare_mmtests "$OUT"
run compare --results "$results" --baseline none --statistic mean
status 1
golden t096_compare_results "$OUT"
run compare --results "$results" --baseline none --statistic mean --format latex --metric 'sysbench*p95*,*.min'
golden t096_compare_latex "$OUT"

# names that mean something to LaTeX; a backslash is shown as two, as everywhere
printf 'run,metric,value\na_b,"50%% & {x}\\input $#^~",1\n<c>|""\033,"50%% & {x}\\input $#^~",2\n' | tr -d '\033' \
	> "$WORK/latex.csv"
run compare --values "$WORK/latex.csv" --statistic mean --format latex
says "$OUT" 'metric & statistic & a\_b & \textless{}c\textgreater{}\textbar{}\textquotedbl{}\textquotedbl{} & difference \\'
says "$OUT" '50\% \& \{x\}\textbackslash{}\textbackslash{}input \$\#\textasciicircum{}\textasciitilde{} & mean & 1 & 2 & +100.00 \% \\'

# the three ways to say where a run is, and the same values in each
run compare -q --results "none=$results/none" --results "events=$results/events" --format csv
cp "$OUT" "$WORK/first"
mkdir -p "$WORK/runs/none/round-1/deep" "$WORK/runs/events"
cp "$results"/none/* "$WORK/runs/none/round-1/deep"
cp "$results"/events/* "$WORK/runs/events"
run compare -q --results "$WORK/runs" --baseline none --format csv
same "$OUT" "$WORK/first"

# what is higher, is better for one metric and worse for another
mkdir -p "$WORK/good/old" "$WORK/good/new"
for i in 1 2 3 4 5 6; do
	printf 'Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\nTime: 1.%d\n' $i \
		> "$WORK/good/old/hackbench-$i"
	sed 's/Time: 1/Time: 3/' "$WORK/good/old/hackbench-$i" > "$WORK/good/new/hackbench-$i"
	printf 'sysbench 1.0.20 (using LuaJIT 2.1)\nCPU speed:\n    events per second: 10%d\n' $i \
		> "$WORK/good/old/sysbench-$i"
	sed 's/: 10/: 30/' "$WORK/good/old/sysbench-$i" > "$WORK/good/new/sysbench-$i"
	printf 'run,metric,value\nold,points,1%d\nnew,points,3%d\n' $i $i > "$WORK/points-$i.csv"
done
run compare -q --results "$WORK/good" --baseline old --statistic mean
status 1
says "$OUT" "higher than old by more than noise, which is worse"
says "$OUT" "higher than old by more than noise, which is better"
check "time is worse" test -n "$(grep -A 1 '^hackbench.*time_s$' "$OUT" | grep worse)"
check "rate is better" test -n "$(grep -A 1 '^sysbench.*events_per_s$' "$OUT" | grep better)"
run compare -q --results "$WORK/good" --baseline new --statistic mean --format json
check "the other way around" python3 - "$OUT" <<'END'
import json, sys
metrics = {m["metric"]: m for m in json.load(open(sys.argv[1]))["metrics"]}
def effect(name):
    return [s["effect"] for s in metrics[name]["statistics"] if s["run"] == "old"]
assert metrics["hackbench.groups1.time_s"]["better"] == "lower"
assert metrics["sysbench.cpu.events_per_s"]["better"] == "higher"
assert effect("hackbench.groups1.time_s") == ["better"] and effect("sysbench.cpu.events_per_s") == ["worse"]
END
set --
for i in 1 2 3 4 5 6; do set -- "$@" --values "$WORK/points-$i.csv"; done
run compare "$@" --statistic mean
check "nothing is said of what is not known" test -z "$(grep -e better -e worse "$OUT")"
run compare "$@" --statistic mean --higher-is-better 'poi*'
says "$OUT" "which is better"
run compare "$@" --statistic mean --lower-is-better points
says "$OUT" "which is worse"
run compare "$@" --lower-is-better points --higher-is-better a,points
status 2

# other conditions than those of the baseline
mkdir "$WORK/base" "$WORK/other" "$WORK/plain"
cp "$results"/none/cyclictest-[12].json "$results"/none/sysbench* "$WORK/base"
cp "$WORK"/base/* "$WORK/other"
cp "$WORK"/base/* "$WORK/plain"
sed -i -e 's/"release": "[^"]*"/"release": "6.99.1-rt"/' -e 's/-l 200/-l 999/' "$WORK"/other/*.json
sed -i 's/^sysbench 1.0.20/sysbench 1.1.0/' "$WORK"/other/sysbench*
run compare -q --results "base=$WORK/base" --results "other=$WORK/other" --results "plain=$WORK/plain" --statistic mean
grep explain "$OUT" > "$WORK/confounders"
golden t096_compare_conditions "$WORK/confounders"
check "none about what is the same" test -z "$(grep '^plain.*explain' "$OUT")"
run compare -q --results "base=$WORK/base" --results "other=$WORK/other" --format json
check "JSON" python3 -c '
import json, sys
base, other = json.load(open(sys.argv[1]))["conditions"]
assert len(other["confounders"]) == 3 and not base["confounders"], other
assert other["kernels"][0].startswith("6.99.1-rt") and base["kernels"] != other["kernels"]' "$OUT"
for load in 0.10 7.50; do
	mkdir "$WORK/load-$load"
	sed "s/load average: [0-9.]*/load average: $load/" "$others/unixbench.txt" > "$WORK/load-$load/a"
done
run compare -q --results "low=$WORK/load-0.10" --results "high=$WORK/load-7.50" --statistic mean
says "$OUT" "high: its load average was 7.50, that of low 0.10: this alone may explain differences"
run compare -q --results "low=$WORK/load-0.10" --results "base=$WORK/base" --statistic mean
check "a load that is not known is no other one" test -z "$(grep 'load average' "$OUT")"

# tables with columns of other names
printf '"host";"bench";"seconds";"MB"\na;boot;1.5;10\na;boot;1.6;11\nb;boot;2.5;10\nb;boot;2.6;11\n' > "$WORK/table.csv"
run compare --values "$WORK/table.csv" --run-column host --metric-column bench --value-column seconds --statistic mean
says "$OUT" "boot             1.55         2.55    +64.52 %"
run compare --values "$WORK/table.csv" --run-column HOST --value-column seconds,MB --statistic mean
says "$OUT" "seconds          1.55         2.55    +64.52 %"
says "$OUT" "MB               10.5         10.5     +0.00 %"
run compare --results "x=$WORK/table.csv" --results "y=$WORK/table.csv" --value-column MB --statistic mean
says "$OUT" "MB               10.5         10.5     +0.00 %"
run compare --values "$WORK/table.csv" --run-column hots --value-column MB
status 3
says "$ERR" "there is no column 'hots' (--run-column); the columns are host, bench, seconds, MB"
run compare --values "$WORK/table.csv" --value-column MB
status 3
says "$ERR" "which column names the run? Add --run-column"
run compare --values "$WORK/table.csv" --run-column host
status 2
run compare --values "$WORK/table.csv" --run-column host --metric-column bench --value-column MB,seconds --statistic mean
says "$OUT" "boot.seconds         1.55         2.55    +64.52 %"
says "$OUT" "boot.MB              10.5         10.5     +0.00 %"

# as the tables of a study have them: several columns name a run, or a metric; words for people before the names; blanks
python3 - "$WORK/study.csv" << 'END'
import random, sys
random.seed(4)
with open(sys.argv[1], "w") as file:
    print("# layers and tracers\n\nlayer, tracer,event,time,exits", file=file)
    for i in range(200):
        print(f"L{random.randint(1, 2)},{random.choice(['None', 'Ftrace'])}, {random.choice(['HLT', 'MSR'])}\t"
              f",{random.random():.6f}, {random.randint(1, 99)} \t", file=file)
END
for columns in "layer,tracer event time,exits" "tracer layer,event time,exits" "layer tracer,event,tracer exits"; do
	read -r runs metrics values <<< "$columns"
	run compare -q --values "$WORK/study.csv" --run-column "$runs" --metric-column "$metrics" \
		--value-column "$values" --statistic mean --format csv
	check "$columns" python3 - "$OUT" "$WORK/study.csv" "$runs" "$metrics" "$values" << 'END'
import csv, math, sys
got = {(row["run"], row["metric"]): float(row["value"]) for row in csv.DictReader(open(sys.argv[1]))}
lines = [[field.strip() for field in line.split(",")] for line in open(sys.argv[2]) if "," in line]
runs, metrics, values = (words.split(",") for words in sys.argv[3:])
sums = {}
for row in (dict(zip(lines[0], line)) for line in lines[1:]):
    for value in values:
        key = (".".join(row[c] for c in runs),
               ".".join([row[c] for c in metrics] + [value] * (len(values) > 1)))
        sums.setdefault(key, []).append(float(row[value]))
assert len(sums) >= 8 and set(got) == set(sums), set(got) ^ set(sums)
assert all(math.isclose(got[key], sum(of) / len(of), rel_tol=1e-6) for key, of in sums.items())
END
done
run compare --values "$WORK/study.csv" --run-column layer,hots --value-column time
status 3
says "$ERR" "there is no column 'hots' (--run-column); the columns are layer, tracer, event, time, exits"
printf 'a,b,v\n1,,2\n' > "$WORK/empty.csv"
run compare --values "$WORK/empty.csv" --run-column a,b --value-column v
status 3
says "$ERR" "line 2: the run has no name"
# a table with one column, which is the values
for i in 1 2; do printf 'elapsed\n%d\n%d\n' $i $((i + 1)) > "$WORK/one$i.csv"; done
run compare -q --results "x=$WORK/one1.csv" --results "y=$WORK/one2.csv" --value-column elapsed --statistic mean
says "$OUT" "elapsed           1.5          2.5    +66.67 %"

# figures: one panel, one for each benchmark, one for each metric
panels_are_values() # HOW LEAST ARGUMENT...
{
	local how=$1 least=$2
	shift 2
	run compare -q --resamples 320 --baseline none --format csv --panels "$how" --plot "$WORK/panels.svg" "$@"
	cp "$OUT" "$WORK/panels.csv"
	check "bars of $*" python3 "$GOLDEN/plot_panels.py" "$WORK/panels.svg" "$OUT" "$how" > "$WORK/bars"
	check "enough bars of $* ($(cat "$WORK/bars"))" test "$(cat "$WORK/bars")" -ge "$least"
}
panels_are_values one 20 --results "$results" --statistic mean
panels_are_values one 8 --values "$SAMPLES/kvm-durations.csv" --metric guest_s
panels_are_values part 20 --results "$results" --statistic mean,p50
panels_are_values metric 20 --results "$results" --statistic p50,p75,stddev
awk -F, -v OFS=, 'NR > 1 { $5 *= 1.02 } { print }' "$WORK/panels.csv" > "$WORK/wrong.csv"
check "a wrong bar is found" sh -c '! python3 "$@" > /dev/null 2>&1' sh "$GOLDEN/plot_panels.py" "$WORK/panels.svg" \
	"$WORK/wrong.csv" metric
python3 -c 'print("run,metric,value"); [print(f"{run},m{i}.x,{i + 1}") for run in "ab" for i in range(49)]' > "$WORK/many.csv"
run compare -q --values "$WORK/many.csv" --panels part --plot "$WORK/many.svg" --statistic mean
status 3
says "$ERR" "many.svg: more than 48 panels: choose fewer with --metric"
check "no figure" test ! -e "$WORK/many.svg"
run compare -q --results "$results" --statistic mean --panels part --plot "$WORK/panels.pdf"
check "PDF" sh -c 'head -c 5 "$1" | grep -q %PDF- && tail -c 8 "$1" | grep -q %%EOF' sh "$WORK/panels.pdf"

# LaTeX: each row has the cells of the tabular, braces are even, and no other character means anything to LaTeX
run compare -q --results "$results" --baseline none --format latex
check "a tabular" python3 - "$OUT" << 'END'
import re, sys
lines = [line for line in open(sys.argv[1]).read().splitlines() if line and not line.startswith("%")]
columns = re.fullmatch(r"\\begin\{tabular\}\{([lrc]+)\}", lines[0])[1]
assert lines[-1] == r"\end{tabular}", lines[-1]
rows = [line for line in lines if line.endswith(r"\\")]
assert len(rows) > 50, len(rows)
for line in lines[1:-1]:
    assert line in rows or re.fullmatch(r"\\(top|mid|bottom)rule|\\(addlinespace|cmidrule.*)", line), line
for line in rows:
    plain = re.sub(r"\\[&%$#_{}]", "", line)
    spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", plain))
    assert plain.count("&") + 1 + spanned == len(columns), line
    assert plain.count("{") == plain.count("}") and plain.count("$") % 2 == 0 and not re.search("[%#~^]|(?<!\\$)_", plain), line
END

cp "$OUT" "$WORK/table.tex"
run compare -q --values "$WORK/latex.csv" --statistic mean --format latex
cp "$OUT" "$WORK/odd.tex"
# where LaTeX is at hand, it takes them, and shows the odd names as they are
if command -v pdflatex > /dev/null && command -v pdftotext > /dev/null && kpsewhich booktabs.sty > /dev/null; then
	printf '%s\n' '\documentclass{article}' '\usepackage{booktabs,graphicx}' '\usepackage[T1]{fontenc}' '\begin{document}' \
		'\tiny' '\input{odd}' '\par' '\input{table}' '\includegraphics[width=5cm]{panels}' '\end{document}' > "$WORK/page.tex"
	check "LaTeX takes the tables" sh -c 'cd "$1" && pdflatex -interaction=nonstopmode -halt-on-error page.tex > said' \
		sh "$WORK"
	pdftotext -layout "$WORK/page.pdf" "$WORK/page.txt"
	says "$WORK/page.txt" '50% & {x}\\input $#^~'
	says "$WORK/page.txt" 'a_b'
	pdftotext "$WORK/panels.pdf" "$WORK/panels.txt"
	says "$WORK/panels.txt" hackbench
fi

# what is no result, links and pipes
run compare --results "$SAMPLES/README.md"
status 3
says "$ERR" "README.md: not recognised as results of a benchmark; expected: cyclictest JSON (cyclictest --json=FILE)"
run compare --results "$WORK/missing"
status 3
says "$ERR" "missing: cannot read: No such file or directory"
mkdir "$WORK/empty"
run compare --results "$WORK/empty"
status 3
says "$ERR" "empty: no file of this folder has results; expected"
mkfifo "$WORK/good/old/pipe"
ln -s / "$WORK/good/old/root"
ln -s "$WORK/points-1.csv" "$WORK/good/old/link"
head -c 1000 "$SAMPLES/pinned.xen" > "$WORK/good/old/trace"
echo '{ "results": [' > "$WORK/good/old/cut.json"
run compare --results "$WORK/good" --statistic mean
status 1
says "$ERR" "5 other files were not read, such as $WORK/good/old/cut.json"
run compare --results "$WORK/good/old/pipe"
status 3
says "$ERR" "pipe: cannot read: not a regular file"
# an output that has ended early is not left out without a word
head -n 8 "$results/none/sysbench-cpu-1.txt" > "$WORK/good/old/sysbench-7"
run compare --results "$WORK/good"
status 3
says "$ERR" "sysbench-7: looks like output of sysbench, but has no result: did the program end early?"
rm "$WORK/good/old/sysbench-7"
# histograms with more samples than there is memory for
printf '# Histogram\n000001 99999999999\n# Total: 1\n' > "$WORK/good/old/histogram"
run compare --results "$WORK/good"
status 3
says "$ERR" "histogram: more than 16000000 samples of one latency"
rm "$WORK/good/old/histogram"
printf '{ "num_threads": 1, "thread": { "0": { "histogram": { "1": 1e30 }, "max": 1e999 } } }' > "$WORK/good/old/huge"
run compare --results "$WORK/good"
status 3
printf '{ "num_threads": 1, "thread": { "0": { "histogram": [], "cycles": "x" }, "1": 7, "2": null } }' > "$WORK/good/old/huge"
run compare --results "$WORK/good"
status 3
says "$ERR" "looks like output of cyclictest JSON, but has no result"
rm "$WORK/good/old/huge"
# a file that is too large, and a line that would take a reader long who tries each blank
truncate -s 33M "$WORK/large"
run compare --results "$WORK/large"
status 3
says "$ERR" "large: larger than 32 MiB"
{ echo '  a b'; printf 'x%8000000s' ''; echo '1 (0.00%) 2'; } > "$WORK/blanks"
timeout 60 "$KSV_BIN" compare --results "$WORK/blanks" > "$OUT" 2> "$ERR"
says "$ERR" "blanks: not recognised"
# an output may not replace what is compared
run compare --results "a=$WORK/points-1.csv" -o "$WORK/points-1.csv"
status 2
finish
