# SPDX-License-Identifier: LGPL-2.1-or-later
# study of a folder that is there: the sample's results are those that Python counts, in all formats; damaged
# folders; mistakes; a host of Xen with a program in xentrace's place.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

STUDY=$SAMPLES/overhead-study
run study --format csv "$STUDY"
status 0
check "results, counted again" python3 "$GOLDEN/study_oracle.py" results "$STUDY" "$OUT"
run study --format json "$STUDY"
status 0
check "words" python3 "$GOLDEN/study_oracle.py" words "$STUDY" "$OUT"
check "the order is that of the seed" python3 "$GOLDEN/study_oracle.py" order "$STUDY"
run study --format latex "$STUDY"
status 0
says "$OUT" '\begin{tabular}{llrrrl}'
run study "$STUDY" --plot "$WORK/cost.svg" --plot-time "$WORK/cpu.svg"
status 0
golden t295_study "$OUT"
# docs/overhead-study.md quotes these sentences, and has these figures
check "the page has the sentences" python3 - "$OUT" "$KSV_SOURCE_DIR/docs/overhead-study.md" << 'END'
import re, sys
said = open(sys.argv[1]).read().split("What limits this")[0].replace("What tracing costs here\n", "")
sentences = [" ".join(s.split()) for s in re.split(r"\n  (?=\S)", "\n" + said) if s.strip()]
page = " ".join(re.sub("^> ?", "", open(sys.argv[2]).read(), flags=re.M).split())
assert len(sentences) > 8, sentences
for sentence in sentences:
    assert sentence in page, sentence
END
same "$WORK/cost.svg" "$KSV_SOURCE_DIR/docs/images/overhead-cost.svg"
same "$WORK/cpu.svg" "$KSV_SOURCE_DIR/docs/images/overhead-cpu.svg"
# guests of emulated hosts: the page has a table of each, with exits and bytes
for lab in kvm xen; do
	run study --format csv "$STUDY-$lab"
	status 0
	check "results of $lab, counted again" python3 "$GOLDEN/study_oracle.py" results "$STUDY-$lab" "$OUT"
	run study --format json "$STUDY-$lab"
	check "words of $lab" python3 "$GOLDEN/study_oracle.py" words "$STUDY-$lab" "$OUT"
	check "the order of $lab" python3 "$GOLDEN/study_oracle.py" order "$STUDY-$lab"
	check "the page's table of $lab" python3 "$GOLDEN/study_oracle.py" guests "$STUDY-$lab" "$KSV_SOURCE_DIR/docs/overhead-study.md"
done
run study "$STUDY-xen"
golden t295_study.xen "$OUT"
# bars are where the numbers are
check "bars" python3 - "$WORK/cost.svg" "$STUDY" "$GOLDEN" << 'END'
import math, re, statistics, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[3])
import study_oracle
plan, _, values, _ = study_oracle.load(sys.argv[2])
tips = dict(re.findall(r"<title>(\S+ \S+): ([\d.]+) %", open(sys.argv[1]).read()))
n = 0
for benchmark in plan["benchmarks"]:
    pattern = benchmark["metric"].replace("*", "")
    metric = next(m for m, c in values if m.startswith(benchmark["name"] + ".") and m.endswith(pattern))
    for config in plan["configurations"]:
        base, other = values[metric, plan["configurations"][0]["name"]], values[metric, config["name"]]
        logs = [math.log(other[r] / base[r]) for r in set(base) & set(other)]
        wanted = 100 * math.exp(statistics.fmean(logs))
        assert abs(float(tips[f"{config['name']} {metric}"]) - wanted) < 0.01, (metric, config, tips, wanted)
        n += 1
assert n == len(tips) == 12, tips
END

# folders that are damaged
copy() { rm -rf "$WORK/copy"; cp -r "$STUDY" "$WORK/copy"; }
copy
echo '{"round":1' >> "$WORK/copy/journal.jsonl"
truncate -s -1 "$WORK/copy/journal.jsonl"
run study --format csv "$WORK/copy"
status 0
says "$ERR" "its last line has no end: the run was interrupted"
cp "$OUT" "$WORK/cut"
run study --format csv "$STUDY"
same "$OUT" "$WORK/cut"
tail -n 1 "$STUDY/journal.jsonl" >> "$WORK/copy/journal.jsonl"
run study "$WORK/copy"
status 3
says "$ERR" "journal.jsonl, line"
copy
rm "$WORK"/copy/raw/none/hackbench.r001.txt
mkfifo "$WORK/copy/raw/none/hackbench.r001.txt"
run study "$WORK/copy"
status 3
says "$ERR" "hackbench.r001.txt: cannot read: not a regular file"
rm "$WORK"/copy/raw/none/hackbench.r001.txt
echo "Segmentation fault" > "$WORK"/copy/raw/none/hackbench.r001.txt
run study "$WORK/copy"
status 3
says "$ERR" "no output of hackbench, which the plan has as the format of hackbench"
copy
: > "$WORK/copy/journal.jsonl"
run study "$WORK/copy"
status 3
says "$ERR" "no run has ended yet"
copy
head -n 8 "$STUDY/journal.jsonl" > "$WORK/copy/journal.jsonl"
rm "$WORK/copy/samples.csv"
run study --plot-time "$WORK/none.svg" "$WORK/copy"
status 4
says "$ERR" "samples.csv: cannot read"
printf 'x,y\n,,,,,,,\nhackbench,none,1,1e999,nan,inf,-1,2\nhackbench,none,1,-5' > "$WORK/copy/samples.csv"
run study --plot-time "$WORK/odd.svg" "$WORK/copy"
status 4
check "odd samples" grep -q '</svg>' "$WORK/odd.svg"

copy
sed -i 's/"\*\.avg_us"/"*.average"/' "$WORK/copy/plan.json"
run study --format json "$WORK/copy"
status 0
says "$OUT" "cyclictest has no metric *.average, which the plan names: cyclictest.avg_us is in its place."

# mistakes, which need no root to be found
mistake() { local says=$1; shift; run study "$@"; check "$*: $STATUS" test "$STATUS" = 2 -o "$STATUS" = 3; says "$ERR" "$says"; }
mistake "give a plan, a command after --, or the folder"
mistake "a study needs a folder: --output FOLDER" -- true
mistake "'evts' is no configuration" -o x -c none,evts -- true
mistake "there is nothing to compare" -o x -c none -- true
mistake "there is no format of results 'hackbensh'" -o x --results hackbensh -- true
mistake "there is no guest 'web': add it with --guest" -o x --in web -- true
mistake "a study reaches guests by ssh" -o x --guest web=agent -- true
mistake "there are none: add --guest" -o x -c none,events@guest -- true
mistake "a study that has begun keeps its plan" --seed 3 "$STUDY"
mistake "belong to a command after --" -o x -c none,all plan.json
mistake "no folder of a study" "$SAMPLES"
mistake "--resume: give the folder" --resume
mistake "not a time from 1s to 168h" -o x --max-time 10ms -- true
mistake "the name must end in .svg, .png or .pdf" --plot x.gif "$STUDY"
check "nothing is made" test ! -e x

# dom0 of Xen: xentrace records, and its bytes are counted
cat > "$WORK/bin/xentrace" << 'S'
#!/bin/bash
[ "$1" != --version ] || { echo "xentrace v1.2"; exit; }
echo "$*" >> "$FAKE_LOG"
trap 'exit 0' INT
head -c 100000 /dev/zero > "${!#}"
while :; do sleep 0.02; done
S
printf '#!/bin/bash\nexit 3\n' > "$WORK/bin/kshark-virt-xen-meta"
chmod +x "$WORK"/bin/*
tree record_xen.tree
: > "$FAKE_LOG"
run study -o xen --rounds 2 --max-rounds 2 --seed 1 --results time -c none,events,all -- sleep 0.1
status 0
# a moment of each before the first run, then two rounds
is "$(cut -d ' ' -f 1-3 "$FAKE_LOG" | sort | uniq -c | tr -s ' ')" " 3 -D -e 0x000bf000
 3 -D -e 0x0ffff000"
check "bytes" python3 - xen/journal.jsonl << 'END'
import json, sys
runs = [r for r in map(json.loads, open(sys.argv[1])) if r["round"]]
assert len(runs) == 6 and all(r.get("bytes") == {"none": None}.get(r["configuration"], 100000) for r in runs), runs
assert not any("records" in r or "lost" in r or "exits" in r for r in runs), runs
END
# a hypervisor that counts: each time that it is asked, there are 40 more exits
cat > "$WORK/bin/xenperf" << 'S'
#!/bin/bash
echo $(($(cat "$FAKE_LOG.exits" 2> /dev/null) + 40)) > "$FAKE_LOG.exits"
printf '%-35s T=%10u \n' exceptions 5 "vmexits" "$(< "$FAKE_LOG.exits")" "vmexits from realmode" 3
S
chmod +x "$WORK/bin/xenperf"
run study -o exits --rounds 2 --max-rounds 2 --seed 1 --warm-up 0 --results time -c none,events -- true
status 0
says "$OUT" "While true ran with none, there were 40 VM exits."
is "$(grep -c '"exits":40,' exits/journal.jsonl)" 4
check "no process is left" test -z "$(pgrep -f "$WORK/bin/xentrace")"
run study -o function -c none,function -- true
status 3
says "$ERR" "function: xentrace knows classes of events alone"
check "no folder is left" test ! -e function
finish
