# SPDX-License-Identifier: LGPL-2.1-or-later
# study in the tracefs of this machine: a study of two rounds and its results, counted again; interrupted, killed and
# resumed; guests by ssh. Other tracers' settings stay as they are.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

REAL=/sys/kernel/tracing
skip() { echo "$*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root may trace"
probe=$REAL/instances/kshark-virt-probe-$$
mkdir "$probe" 2> /dev/null || skip "tracefs of this machine has no instances"
rmdir "$probe"
command -v hackbench > /dev/null || skip "hackbench is not installed: apt-get install rt-tests"

# the tracefs, clocks and processes of this machine, but a lock and machines of KVM of our own
export KSHARK_VIRT_ROOT=$WORK/root
KVM=$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm
mkdir -p "$KSHARK_VIRT_ROOT/run" "$KVM"
for there in /sys/* /sys/kernel/*; do
	[ -e "$KSHARK_VIRT_ROOT$there" ] || ln -s "$there" "$KSHARK_VIRT_ROOT$there"
done
ln -s /proc "$KSHARK_VIRT_ROOT/proc"
settings() { head -n 50 "$REAL"/{tracing_on,set_event,trace_clock,buffer_size_kb,current_tracer}; }
instances() { ls "$REAL/instances" | grep -c '^kshark-virt-study-'; }
lines() { local all; mapfile -t all < "$1" && [ ${#all[@]} -ge "$2" ]; }
settings > "$WORK/before"

# a guest without a CPU for a long time, beside all that follows: it ends its tracing late
mkdir -p "$WORK/slow/bin" "$WORK/slow/root/run"
ln -s /sys /proc "$WORK/slow/root"
cat > "$WORK/slow/bin/ssh" << 'S'
#!/bin/bash
case $* in
*"uid="*) echo uid=0. ;;
*instances*)
	echo "kshark-virt: recording" >&2
	read -r _
	echo "entries: 3"
	[ -e "$0.ended" ] || { touch "$0.ended"; sleep 22; } ;;
esac
S
chmod +x "$WORK/slow/bin/ssh"
PATH=$WORK/slow/bin:$PATH KSHARK_VIRT_ROOT=$WORK/slow/root "$KSV_BIN" study -o "$WORK/slow/study" --rounds 1 --max-rounds 1 --warm-up 0 \
	--guest db=ssh:root@db -c none,events@guest --results time -- true > "$WORK/slow/out" 2> "$WORK/slow/err" < /dev/null &
SLOW=$!

# enabling all events takes some kernels seconds: two sets of events serve as well here
cat > plan.json << 'END'
{ "benchmarks": [ { "name": "hackbench", "command": ["hackbench", "-g", "1", "-l", "50"] } ],
  "configurations": [ "none", "events",
    { "name": "forks", "tracing": "events", "events": "sched:sched_process_fork" } ] }
END
run study -o two --rounds 2 --max-rounds 2 --seed 7 plan.json
status 0
cp "$OUT" "$WORK/said"
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"
is "$(instances)" 0
is "$(cd two && ls | tr '\n' ' ')" "cost.pdf cost.svg cpu.pdf cpu.svg journal.jsonl plan.json raw results.csv results.json \
results.tex results.txt samples.csv warm-up-hackbench.txt "
is "$(find two -type d -perm 700 | wc -l) $(find two -type f -perm 600 | wc -l)" "5 $(find two -type f | wc -l)"
says "$ERR" "up to 2 rounds of 3 runs in random order, seed 7"
check "the order is that of the seed" python3 "$GOLDEN/study_oracle.py" order two
check "results, counted again" python3 "$GOLDEN/study_oracle.py" results two two/results.csv
check "words" python3 "$GOLDEN/study_oracle.py" words two two/results.json
# none records nothing; more events are more records
check "records" python3 - two/journal.jsonl << 'END'
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
assert [r["round"] for r in runs] == [0, 1, 1, 1, 2, 2, 2], runs
for r in runs:
    assert r["wall_s"] > 0 and r["own_s"] > 0 and 0 <= r["cpu_percent"] <= 100, r
    assert ("records" in r) == (r["configuration"] != "none"), r
for n in 1, 2:
    by = {r["configuration"]: r for r in runs if r["round"] == n}
    # each of the 40 tasks of a group is forked, and switched to more than once
    assert 40 <= by["forks"]["records"] < by["events"]["records"], by
    assert not any("exits" in r for r in by.values()), by
    # the kernel's records of these events have 16 bytes at least, and pages are whole
    assert by["events"]["bytes"] > 16 * by["events"]["records"] and by["events"]["bytes"] % 4096 == 0, by
END
says "$WORK/said" "What tracing costs here"
for format in text json csv latex; do
	run study -f $format two
	status 0
	cp "$OUT" "$WORK/again.$format"
done
same "$WORK/again.text" two/results.txt
same "$WORK/again.json" two/results.json
same "$WORK/again.csv" two/results.csv
same "$WORK/again.latex" two/results.tex
check "compare reads the outputs" bash -c '"$KSV_BIN" compare -q --results two/raw --statistic mean > /dev/null; [ $? -lt 2 ]'
for figure in cost cpu; do
	check "$figure.svg" python3 -c 'import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1])
names = {g.getAttribute("data-name") for g in d.getElementsByTagName("g")}
assert {"none", "events", "forks"} <= names, names' two/$figure.svg
	check "$figure.pdf" grep -q '^%PDF-1' two/$figure.pdf
done

# interrupted in a run that is traced: the rest comes later, in the same order, and nothing twice
"$KSV_BIN" study -o cut --rounds 3 --max-rounds 3 --seed 5 --warm-up 0 --results time -e sched:sched_switch -c none,events \
	-- sleep 0.4 > "$OUT" 2> "$ERR" < /dev/null &
PID=$!
wait_for lines cut/journal.jsonl 2
wait_for test -d "$REAL/instances/kshark-virt-study-$PID"
kill -TERM "$PID"
ends "$PID"
wait "$PID"
STATUS=$?
status 3
says "$ERR" "go on with: kshark-virt study --resume"
is "$(instances)" 0
cp cut/journal.jsonl "$WORK/first"
run study --resume cut
status 0
head -c "$(wc -c < "$WORK/first")" cut/journal.jsonl > "$WORK/head"
same "$WORK/head" "$WORK/first"
is "$(wc -l < cut/journal.jsonl)" 6
check "the same order" python3 "$GOLDEN/study_oracle.py" order cut
check "the time of the command" python3 - cut/results.json << 'END'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["results"] if r["metric"] == "sleep.wall_s"]
assert [r["runs"] for r in rows] == [3, 3] and all(0.4 <= r["mean"] < 2 for r in rows), rows
END
# more rounds than the plan had
run study --resume --max-rounds 4 --rounds 4 cut
status 0
is "$(wc -l < cut/journal.jsonl)" 8

# a guest, by ssh: what stands in its place runs the script here, as a shell of the guest would
cat > "$WORK/bin/ssh" << 'S'
#!/bin/bash
echo "$*" >> "$0.log"
while [ "$1" = -o ]; do shift 2; done
[ "$1" = root@web ] || { echo "no route to $1" >&2; exit 255; }
shift
[ "$*" != "command -v true" ] || { echo "Connection reset by peer" >&2; exit 255; }
exec sh -c "$*"
S
chmod +x "$WORK/bin/ssh"
# two machines of KVM run; one of them leaves its guest for the host as often as the benchmark says
mkdir "$KVM/100-7" "$KVM/200-9"
echo 4000000000 > "$KVM/100-7/exits"
echo 5 > "$KVM/200-9/exits"
echo 77 > "$KVM/exits"
run study -o guest --rounds 1 --max-rounds 1 --warm-up 0 --guest web=ssh:root@web --in web -e sched:sched_switch \
	-c none,events@guest,events@both -- sh -c "echo 'it''s'; sleep 0.2; read n < '$KVM/200-9/exits'; echo \$((n + 250)) > '$KVM/200-9/exits'"
status 4
says "$OUT" "While sh ran with none, there were 250 VM exits."
is "$(instances)" 0
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"
check "records of the guest" python3 - guest/journal.jsonl << 'END'
import json, sys
runs = {r["configuration"]: r for r in map(json.loads, open(sys.argv[1]))}
assert {c: ("records" in r, "guest_records" in r) for c, r in runs.items()} == {
    "none": (False, False), "events@guest": (False, True), "events@both": (True, True)}, runs
both = runs["events@both"]
# guest and host are the same machine here; what starts and ends the guest's tracing is in the guest's as well
assert both["records"] > 10 and both["guest_records"] > both["records"] / 2, both
assert "own_s" not in both, both
assert [r["exits"] for r in runs.values()] == [250] * 3, runs
# an event of sched_switch has 64 bytes; its header has 4, or 8
for r in runs["events@guest"], both:
    assert 64 <= r["guest_bytes"] / r["guest_records"] <= 80, r
assert "guest_bytes" not in runs["none"], runs
END
is "$(cat guest/raw/*/sh.r001.txt | sort -u)" "its"
# the connections of benchmarks and of tracers end after their guest
says "$WORK/bin/ssh.log" "sleep 0.2"
check "ssh asks whether a guest lives" test "$(grep -c '^-o BatchMode=yes -o ServerAliveInterval=15 -o ServerAliveCountMax=8 ' \
	"$WORK/bin/ssh.log")" = "$(grep -c '^-o' "$WORK/bin/ssh.log")"

# a machine that begins or ends takes its exits along; and bytes of records that were overwritten are not known
run study -o changes --rounds 1 --max-rounds 1 --warm-up 0 --seed 1 --guest web=ssh:root@web --in web -e sched:sched_switch -b 8K \
	-c none,events@guest -- sh -c "mv '$KVM/100-7' '$KVM/100-8'; i=0; while [ \$i -lt 300 ]; do i=\$((i + 1)); true | true; done"
status 4
check "what is not known" python3 - changes/journal.jsonl << 'END'
import json, sys
runs = {r["configuration"]: r for r in map(json.loads, open(sys.argv[1]))}
# the second time there is no such folder, and mv fails
assert "exits" not in runs["none"], runs
assert runs["events@guest"]["guest_records"] > 200 and "guest_bytes" not in runs["events@guest"], runs
END

# killed while host and guest trace: both end, and the next study removes what is left
"$KSV_BIN" study -o killed --rounds 1 --warm-up 0 --guest web=ssh:root@web -e sched:sched_switch -c events@both,none --seed 1 --results time \
	-- sleep 60 > "$OUT" 2> "$ERR" < /dev/null &
PID=$!
# the first time is only a try: then there is no file for the output of sleep
traced() { [ -e killed/raw/events@both/sleep.r001.txt ] && [ -d "$REAL/instances/kshark-virt-study-guest" ] &&
	read -r on < "$REAL/instances/kshark-virt-study-$PID/tracing_on" && [ "$on" = 1 ]; }
wait_for traced
wait_for pgrep -P "$PID" -x sleep > /dev/null
SLEEP=$(pgrep -P "$PID" -x sleep)
kill -9 "$PID"
wait "$PID" 2> /dev/null
wait_for test ! -d "$REAL/instances/kshark-virt-study-guest"
off() { [ "$(cat "$REAL/instances/kshark-virt-study-$PID/tracing_on")" = 0 ]; }
wait_for off
gone() { ! kill -0 "$SLEEP"; }
wait_for gone
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"

# benchmarks that fail, or print something else than the plan has
run study -o fails --warm-up 1 -- sh -c 'echo oops; exit 3'
status 3
says "$ERR" "sh failed with status 3"
says "$ERR" "oops"
is "$(instances)" 0
run study -o other --results hackbench -- echo hello
status 3
says "$ERR" "no output of hackbench, which the plan has as the format of echo"

# what is missing, before anything runs
missing() { run study -o missing "$@"; check "no folder is left" test ! -e missing; }
missing --guest db=ssh:root@db -c none,events@guest -- true
status 3
says "$ERR" "db: ssh root@db does not answer without a password: no route to root@db"
missing --guest web=ssh:root@web --in web -- true
status 3
says "$ERR" "web: ssh root@web does not answer any more: Connection reset by peer"
missing --guest web=ssh:root@web --in web -- frobnicate
status 3
says "$ERR" "the guest web has no program frobnicate: apt-get install frobnicate there"
missing -e no:such -- true
status 3
says "$ERR" "this kernel has no such event"
says "$ERR" "the configuration events cannot be traced"
missing --guest web=ssh:root@web -e no:such -c none,events@guest -- true
status 3
says "$ERR" "web does not begin to trace"
if [ "$(sed 's/.*function .*/yes/' "$REAL/available_tracers")" != yes ] ||
		! { mkdir "$probe" && echo function > "$probe/current_tracer"; } 2> /dev/null; then
	missing -c none,function -- true
	status 3
	says "$ERR" "function"
fi
[ ! -d "$probe" ] || rmdir "$probe"
is "$(instances)" 0
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"

wait "$SLOW"
STATUS=$?
cat "$WORK/slow/err"
status 4
is "$(grep -o '"guest_records":3' "$WORK/slow/study/journal.jsonl")" '"guest_records":3'
finish
