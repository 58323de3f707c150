# SPDX-License-Identifier: LGPL-2.1-or-later
# What is known about a trace is said by every command, as text and in JSON; tasks of a guest whose clock is not
# aligned have no times of the host.
. "$(dirname "$0")/lib.sh"

CASES=$SAMPLES/cases

# warnings KIND: how many warnings of a kind the last JSON document has
warnings()
{
	python3 -c 'import json, sys
print(sum(w["kind"] == sys.argv[2] for w in json.load(open(sys.argv[1])).get("warnings", [])))' "$OUT" "$1"
}

# unaligned TEXT FILE...: each command says it, and none gives a task time of the host
unaligned()
{
	local text=$1 page
	shift

	for page in "" --worst=3 --waits --threads --migrations; do
		run report ${page:---full} "$@"
		status 0
		says "$ERR" "$text"
		run report $page --format json "$@"
		check "report $page: a warning in JSON" test "$(warnings alignment)" = 1
	done
	run why --worst 1 --format json "$@"
	check "why: a warning in JSON" test "$(warnings alignment)" = 1
	run why --task vm1:work0 --worst 1 "$@"
	status 4
	says "$ERR" "$text"
	says "$ERR" "is aligned with its host: run 'kshark-virt align --write"
	check "nothing is answered" test ! -s "$OUT"
	run plot --tasks --format csv -o "$WORK/tasks.csv" "$@"
	status 0
	says "$ERR" "$text"
	check "plot: runs of vCPUs" test "$(wc -l < "$WORK/tasks.csv")" -gt 5
	check "plot: no task" test "$(grep -c work0 "$WORK/tasks.csv")" = 0
	rm -rf "$WORK/tables"
	run export --format csv-tables -o "$WORK/tables" "$@"
	status 0
	says "$ERR" "$text"
	check "export: no task" test "$(wc -l < "$WORK/tables/guest_task.csv")" = 1
	check "export: intervals" test "$(wc -l < "$WORK/tables/interval.csv")" -gt 5
}

unaligned "no record of CPU 0 lies within the host's trace" "$CASES/unaligned-apart.dat" "$CASES/unaligned-apart-g.dat"
unaligned "only 19.2 % of the records of CPU 0 lie where vm1 v0 executed its guest" \
	"$CASES/unaligned-overlap.dat" "$CASES/unaligned-overlap-g.dat"

# From the other side: clocks that fit are not doubted, and tasks are there.
run export --format csv-tables -o "$WORK/fits" "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 0
check "tasks" test "$(wc -l < "$WORK/fits/guest_task.csv")" -gt 5
run report --format json "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
check "no doubt" test "$(warnings alignment)$(warnings pairing)" = 00

# The law: all commands print the same notes about a trace, and have them in JSON.
cat > "$WORK/law.py" <<'END'
import json
import re
import subprocess
import sys

LACK = re.compile(r": (the class .*|[a-z_]+:\w+|irq) was not recorded: ")
binary, *files = sys.argv[1:]
commands = [["report"], ["report", "--worst", "2"], ["report", "--waits"], ["report", "--threads"],
            ["report", "--handlers"], ["report", "--power"], ["report", "--tracing"],
            ["why", "--worst", "1"], ["check", "--max", "steal.p99=99999ms"], ["top", "--once"]]
bad = 0
for file in files:
    known = lacked = None
    for command in commands:
        run = subprocess.run([binary, *command, "--format", "json", file], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        document = json.loads(run.stdout)
        texts = [w["text"] for w in document.get("warnings", [])]
        printed = run.stderr.splitlines()
        lines = [line for text in texts for line in text.splitlines()]
        if [line for line in lines if line not in printed]:
            print(file, command, "not printed:", lines, printed)
            bad += 1
        lacks = {m[1] for m in (LACK.search(text) for text in texts) if m}
        texts = [text for text in texts if not LACK.search(text)]
        if known is not None and texts != known:
            print(file, command, texts, "instead of", known)
            bad += 1
        known = texts
        # what was not recorded is a member of its own in reports, and a note elsewhere
        lacks = {lack["record"] for lack in document.get("not_recorded", [])} or lacks
        if lacked is not None and lacks != lacked:
            print(file, command, "lacks", lacks, "instead of", lacked)
            bad += 1
        lacked = lacks
    if not known:
        print(file, "has no note: the test is worth nothing")
        bad += 1
sys.exit(bad != 0)
END
head -c 300001 "$SAMPLES/credit2-basic.xen" > "$WORK/cut.xen"
check "all commands say the same" python3 "$WORK/law.py" "$KSV_BIN" "$SAMPLES/lost-records.xen" \
	"$SAMPLES/hypertrace-aggregated.dat" "$WORK/cut.xen"

# of two sides, each has its own; of runs that are compared, all have theirs
run diff --format json "$SAMPLES/lost-records.xen" "$SAMPLES/credit2-basic.xen"
check "diff: the losses" test "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print("warnings" in d["before"], "warnings" in d["after"])' "$OUT")" = "True False"
run compare --format json "$SAMPLES/lost-records.xen" "$SAMPLES/credit2-basic.xen"
check "compare: the losses" test "$(warnings damage)$(warnings loss)$(warnings contradiction)" != 000

finish
