# SPDX-License-Identifier: LGPL-2.1-or-later
# record --flight: the last seconds are kept, and written on a signal, at the end, or when a condition is met.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

SCRATCH=run/kshark-virt-record.flight
export FAKE_SAMPLE=$WORK/now.dat
ln -s "$SAMPLES/kvm-shared.dat" "$FAKE_SAMPLE"

# worst FILE KIND: cost, time and vCPU of the worst moment, as report has them
worst()
{
	"$KSV_BIN" report --worst 1 --kind "$2" --format csv "$1" 2> /dev/null |
		awk -F, 'NR == 2 { print $4, $3, $5 }'
}
# begin ARGUMENT...: in the background; its pid is $PID
begin()
{
	: > "$ERR"
	# what runs in the background ignores Ctrl-C otherwise
	env --default-signal=INT "$KSV_BIN" record "$@" > "$OUT" 2> "$ERR" < /dev/null &
	PID=$!
	BEGUN="$*"
	wait_for grep -q 'recording into' "$ERR"
}
# ended: it ends by itself, or by what was done before
ended()
{
	ends "$PID"
	keep "$BEGUN"
	check "nothing is left of judging" test ! -e "$KSHARK_VIRT_ROOT/$SCRATCH"
}
written() # FOLDER...
{
	wait_for test -s "$1/host.${2:-dat}" -a -n "$(json "$1/recording.json" 'j.get("end", "")')"
}
pages() # CPU LETTER KB: written by the kernel
{
	head -c "$3k" /dev/zero | tr '\0' "$2" >> "$TRACING/per_cpu/cpu$1/trace_pipe_raw"
}
flight() # FOLDER EXPRESSION: of recording.json's "flight"
{
	json "$1/recording.json" "(lambda f: ($2))(j['flight'])"
}

# ---- KVM ----

kvm_host
attempt --flight=60 -d 0.5 -o timed
status 0
restored
cat "$FAKE_LOG" >> "$WORK/transcript"
same timed/host.dat "$FAKE_SAMPLE"
check "only what belongs there" test "$(ls timed | tr '\n' ' ')" = \
	"host.dat host.dat.meta.json recording.json "
is "$(json timed/recording.json 'j["state"], j["files"][0]["clock"], j["files"][0]["role"]')" \
	"('complete', 'mono', 'host')"
is "$(json timed/recording.json '[(g["name"], g["how"]) for g in j["guests"]]')" \
	"[('web', 'none'), ('db', 'none')]"
is "$(flight timed 'f["asked_ns"], f["cause"], f["triggers"], 0 < f["kept_ns"] < 60 * 10**9')" \
	"(60000000000, 'end', [], True)"
# times are ns already
is "$(json timed/recording.json '"tsc_to_ns" in j')" False
run report --full timed
status 0

# the last second alone; what came before is forgotten
kvm_host
export FAKE_PAGES_OF=$WORK/pages
begin --flight=2 -o last
sleep 5
pages 1 b 12
kill -INT "$PID"
ended
status 0
is "$(tr -d '\0' < "$FAKE_PAGES_OF" | tr -s ab)" b
is "$(wc -c < "$FAKE_PAGES_OF")" 12288
unset FAKE_PAGES_OF

# all that the kernel still has at the end is taken, also when that is more than is taken at once
kvm_host
export FAKE_PAGES_OF=$WORK/pages
begin --flight=60 -o much
head -c 40M /dev/zero | tr '\0' e > "$WORK/much.pages"
kill -STOP "$PID"
cat "$WORK/much.pages" >> "$TRACING/per_cpu/cpu1/trace_pipe_raw"
kill -INT "$PID"
kill -CONT "$PID"
ends "$PID"
status 0
is "$(tr -dc e < "$FAKE_PAGES_OF" | wc -c)" $((40 << 20))
unset FAKE_PAGES_OF
rm "$WORK/much.pages"

# SIGUSR1 writes, and it goes on: each is a recording of its own
kvm_host
begin --flight -o asked
kill -USR1 "$PID"
wait_for test -s asked-2/recording.json
wait_for grep -q 'recording into asked-2' "$ERR"
kill -USR1 "$PID"
wait_for grep -q 'recording into asked-3' "$ERR"
is "what was written is closed: $(readlink "/proc/$PID/fd/"* | grep -c 'host\.dat')" "what was written is closed: 0"
kill -INT "$PID"
ended
status 0
restored
is "$(flight asked 'f["asked_ns"], f["cause"], f["paused_ns"]')" "(10000000000, 'signal', 0)"
is "$(flight asked-2 'f["cause"], f["paused_ns"] > 0')" "('signal', True)"
is "$(flight asked-3 'f["cause"]')" end
for folder in asked asked-2 asked-3; do
	is "$(json $folder/recording.json 'j["state"]')" complete
	same $folder/host.dat "$FAKE_SAMPLE"
	is "$(json $folder/recording.json 'j["command"]')" \
		"['kshark-virt', 'record', '--flight', '-o', 'asked']"
done

# Ctrl-C while it writes: there is no other one
kvm_host
export FAKE_HELD=$WORK/held
touch "$FAKE_HELD"
begin --flight -o interrupted
kill -USR1 "$PID"
wait_for grep -q '^writing' "$ERR"
kill -INT "$PID"
rm "$FAKE_HELD"
ended
status 0
restored
check "there is one" test -s interrupted/host.dat -a ! -e interrupted-2

# nor is it a failure if nothing has come since
kvm_host
begin --flight=3 -o since
kill -USR1 "$PID"
wait_for grep -q 'recording into since-2' "$ERR"
sleep 6
kill -INT "$PID"
ended
status 0

# nor if nothing has come when it is asked: it goes on
kvm_host
begin --flight=3 -o quiet
sleep 6
kill -USR1 "$PID"
wait_for grep -q 'recording into quiet-2' "$ERR"
kill -INT "$PID"
ends "$PID"
status 0
says "$ERR" 'nothing was recorded in the last 3.0 s'
is "$(json quiet/recording.json 'j["state"], j["files"]')" "('complete', [])"
is "$(json quiet-2/recording.json 'j["state"], len(j["files"])')" "('complete', 1)"

# or if more comes at once than can be kept
kvm_host
begin --flight=60 -o flood --limit 1M
kill -STOP "$PID"
pages 0 f 700
pages 1 f 700
kill -CONT "$PID"
kill -INT "$PID"
ends "$PID"
status 3
says "$ERR" 'memory does not suffice for the rate of records'

# while it writes, others may begin to trace: theirs is left alone, and what was written stays
kvm_host
touch "$FAKE_HELD"
begin --flight -o left
kill -USR1 "$PID"
wait_for grep -q '^writing' "$ERR"
echo function > "$TRACING/current_tracer"
rm "$FAKE_HELD"
ends "$PID"
status 3
unset FAKE_HELD
says "$ERR" 'tracing is in use: the tracer function is set'
restored
is "$(json left/recording.json 'j["state"]') $(json left-2/recording.json 'j["state"]')" "complete failed"
is "$(grep -c '^start' "$FAKE_LOG")" 1

# a trace that cannot be read: what it has is not known, instead of nothing
kvm_host
{ printf 'bad'; tail -c +4 "$SAMPLES/kvm-shared.dat"; } > "$WORK/bad.dat"
FAKE_SAMPLE=$WORK/bad.dat run record --flight=60 -d 0.4 -o uncounted
is "$(json uncounted/recording.json '[(f.get("records"), f.get("lost")) for f in j["files"]]')" "[(None, None)]"
check "no number of records is printed" test -z "$(grep " records, " "$ERR")"

# a condition: not met at first, then by a moment that is the worst of report as well
read -r cost time vcpu <<< "$(worst "$SAMPLES/kvm-migration.dat" wake)"
read -r less _ <<< "$(worst "$SAMPLES/kvm-shared.dat" wake)"
check "one sample is worse" test "$cost" -gt "${less:-0}"
kvm_host
begin --flight=60 -o fired --trigger 'lost>1000' --trigger "wake>$((cost - 1))ns"
sleep 1.2 # it is judged, and not met
check "it goes on" kill -0 "$PID"
ln -sf "$SAMPLES/kvm-migration.dat" "$FAKE_SAMPLE"
ended
status 0
restored
is "$(flight fired 'f["cause"], [(t["condition"], t["moments"]) for t in f["triggers"]]')" \
	"('trigger', [('wake>$((cost - 1))ns', 1)])"
is "$(flight fired '(lambda t: (t["cost_ns"], t["time_ns"]))(f["triggers"][0])')" "($cost, $time)"
is "$(json fired/recording.json 'j["state"]')" complete

# limits of check, and their values
kvm_host
ln -sf "$SAMPLES/kvm-shared.dat" "$FAKE_SAMPLE"
begin --flight=60 -o limited --trigger steal=100% --trigger wake.max=$((cost - 1))ns
sleep 1.2 # it is judged, and not met
check "it goes on" kill -0 "$PID"
ln -sf "$SAMPLES/kvm-migration.dat" "$FAKE_SAMPLE"
ended
status 0
restored
run check -q -f json --max wake.max=$((cost - 1))ns limited
is "$(flight limited '[[t[k] for k in ("condition", "moments", "value", "unit", "of", "cost_ns", "time_ns", "vcpu")]
	for t in f["triggers"]]')" "$(python3 - "$OUT" "wake.max=$((cost - 1))ns" << 'END'
import json, sys
row = max((one for one in json.load(open(sys.argv[1]))["limits"] if one["result"] == "exceeded"),
          key=lambda one: one["value"])
print([[sys.argv[2], row["count"], float(row["value"])] +
       [row[k] for k in ("unit", "of", "worst_ns", "worst_time_ns", "worst_vcpu")]])
END
)"

# a limit that the records do not show
kvm_host
begin --flight=60 -o unknown --trigger 'exit[*:swap-in].count=0'
wait_for grep -q 'unknown until now' "$ERR"
kill -INT "$PID"
ended
status 0
restored
is "$(flight unknown 'f["cause"], f["triggers"]')" "('end', [])"

# twice, then it ends; there is no third
kvm_host
attempt --flight=60 -o twice --trigger 'wake>1us' --trigger-limit 2
status 0
restored
is "$(flight twice 'f["cause"]') $(flight twice-2 'f["cause"]')" "trigger trigger"
check "there is no third" test ! -e twice-3

# a line of a guest's log, which was not there before; the log's bytes are the guest's
kvm_host
echo 'soft lockup of yesterday' > console.log
begin --flight=60 -o logged --trigger-log 'web:console.log=soft lockup|rcu.*stall' --trigger-log 'db:no.log'
sleep 0.5
check "it goes on" kill -0 "$PID"
printf 'all is well\n[ 7.0] rcu: detected a \033[31mstall\n' >> console.log
ended
status 0
restored
says "$ERR" 'web: console.log: 1 line; the first: [ 7.0] rcu: detected a \x1b[31mstall'
is "$(flight logged 'f["cause"], f["triggers"], f["logs"]')" "('trigger', [], [{'machine': 'web', \
'log': 'console.log', 'pattern': 'soft lockup|rcu.*stall', 'lines': 1, \
'text': '[ 7.0] rcu: detected a \\\\x1b[31mstall'}])"

# a command ends it, and begins once
kvm_host
attempt --flight=60 -o commanded -- bash -c 'echo x >> begun; sleep 0.5; exit 7'
status 0
is "$(cat begun)" x

# one that only waits for its command has handed back all: others may record, and it may be ended
kvm_host
begin --flight=60 -d 0.4 -o waits --trigger 'wake>1s' -- bash -c 'echo $$ > command; exec sleep 60'
wait_for grep -q 'goes on' "$ERR"
restored
kill -USR1 "$PID" # what this asks for has been written
run record --flight=60 -d 0.4 -o beside --trigger 'wake>1s'
status 0
check "it waits" kill -0 "$PID"
kill -INT "$PID"
ends "$PID"
status 130
kill "$(cat command)"
is "$(json waits/recording.json 'j["state"]')" complete

# memory does not suffice for all seconds
kvm_host
export FAKE_PAGES_OF=$WORK/pages
begin --flight=60 -o shortened --limit 1M
pages 0 c 1000
sleep 0.5
pages 0 d 1000
wait_for grep -q 'recording into' "$ERR"
sleep 0.5
kill -INT "$PID"
ended
unset FAKE_PAGES_OF
says "$ERR" 'memory sufficed only for the last'
is "$(tr -d '\0' < "$WORK/pages" | tr -s a-d)" d
sed -i 's/only for the last [0-9.]* s /only for the last SOME s /' "$WORK/transcript"

# what cannot be judged ends it; all that is kept stays
kvm_host
export FAKE_NO_RESTORE=1
attempt --flight=60 -o unjudged --trigger 'wake>1ms'
unset FAKE_NO_RESTORE
status 3
restored
is "$(json unjudged/recording.json 'j["state"]')" failed
check "the files of CPUs are kept" test -s unjudged/host.dat.kept0
kvm_host
FAKE_DIE=1 attempt --flight -o dies
status 3
check "no folder is left" test ! -e dies
restored

# nothing happens
kvm_host
begin --flight=1 -o nothing
sleep 4
kill -INT "$PID"
ended
status 3
restored
is "$(json nothing/recording.json 'j["state"], j["files"]')" "('failed', [])"

# killed: the next one puts right what was changed
kvm_host
begin --flight -o killed --trigger 'wake>1s'
kill -9 "$PID"
wait "$PID" 2> /dev/null
attempt -d 0.2 -o after
status 0
check "nothing is left of judging" test ! -e "$KSHARK_VIRT_ROOT/$SCRATCH"
is "$(json killed/recording.json 'j["state"], j["flight"]["asked_ns"]')" "('stopped', 10000000000)"
restored

# ---- what is refused ----

kvm_host
attempt --trigger 'wake>1ms'
attempt --flight --trigger-limit 3
attempt --trigger-log web:console.log
attempt --flight --trigger-log web
attempt --flight --trigger-log 'web:console.log=('
attempt --flight --trigger-log web:.
attempt --flight --trigger 'wake>1ms' --trigger-limit 0
attempt --flight --trigger 'sleep>1ms'
attempt --flight --trigger 'wake>1x'
attempt --flight --trigger wake
attempt --flight=0
attempt --flight --guest web
attempt --flight --trigger 'irq>1ms'
attempt --flight --trigger irq.p99=1ms
attempt --flight --trigger wake.p99=1
attempt --flight --trigger sleep.p99=1ms
attempt --flight --events kvm_entry,kvm_exit --trigger wake.p99=1ms
attempt --flight --events kvm_entry,kvm_exit --trigger 'wake>1ms'
attempt --flight --events kvm_entry,kvm_exit,sched_switch --trigger 'steal>1ms' --trigger 'wake>1ms'
attempt --flight --events sched --trigger 'migration>1ms'
attempt --flight --events kvm:kvm_entry --trigger 'exit>1ms'
check "nothing is left" test -z "$(ls -d kshark-virt-* 2> /dev/null)"

# ---- Xen ----

export FAKE_DATA=$WORK/data
mkdir "$FAKE_DATA"
cat > "$WORK/bin/xentrace" << 'S'
#!/bin/bash
# what lies in $FAKE_DATA is written in the order of its names, when it is there
[ "$1" = --version ] && exit
echo "xentrace $*" >> "$FAKE_LOG"
[ -z "${FAKE_DIE:-}" ] || { echo "Failure to get trace buffer pointer from Xen" >&2; exit 1; }
give()
{
	local file

	for file in "$FAKE_DATA"/[0-9]; do
		[ ! -e "$file" ] || { cat "$file" > "${!#}"; rm "$file"; }
	done
}
cut() # off: it ends as if the disk was full
{
	head -c 100 "$FAKE_DATA/end" > "${!#}"
	echo "Write failed!" >&2
	exit 1
}
[ -z "${FAKE_HANG:-}" ] || trap '' INT
[ -n "${FAKE_HANG:-}" ] || trap '[ -z "${FAKE_CUT:-}" ] || cut "$@"; mv "$FAKE_DATA/end" "$FAKE_DATA/9"; give "$@"; exit 0' INT
while :; do give "$@"; sleep 0.05; done
S
cat > "$WORK/bin/kshark-virt-xen-meta" << 'S'
#!/bin/bash
[ "$1" != --buffers ] || { echo '{ "trace_buffer_pages": 32, "max_pcpus": 4 }'; exit; }
echo '{ "cpu_khz": 2300000, "domains": [ { "id": 1, "name": "burny"'"${FAKE_VCPUS:-}"' } ] }' > "${!#}"
trap '[ -n "${FAKE_HANG:-}" ] || exit 0' TERM
while kill -0 "$PPID" 2> /dev/null; do sleep 0.05; done
S
chmod +x "$WORK/bin"/*
# where a turn of xentrace's begins, about in the middle of a trace
split_trace() # FILE
{
	python3 - "$1" "$FAKE_DATA" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at, last, turn = 0, -1, 0
		while at < len(data):
		    header, cpu, size = struct.unpack_from("<III", data, at)
		    assert header == 0x2001f003
		    if cpu <= last and at > len(data) / 2 and not turn:
		        turn = at
		    last = cpu
		    at += 12 + size
		open(sys.argv[2] + "/first", "wb").write(data[:turn])
		open(sys.argv[2] + "/second", "wb").write(data[turn:])
	END
}
xen_host()
{
	tree record_xen.tree
	echo 'MemAvailable: 400000 kB' > "$KSHARK_VIRT_ROOT/proc/meminfo"
	: > "$FAKE_LOG"
	rm -f "$FAKE_DATA"/*
	: > "$FAKE_DATA/end"
}
XEN=$SAMPLES/credit2-basic.xen

# all that came, and what Xen still had when it was ended
xen_host
split_trace "$XEN"
mv "$FAKE_DATA/first" "$FAKE_DATA/1"
mv "$FAKE_DATA/second" "$FAKE_DATA/end"
attempt --flight=60 -d 0.6 -o xen --events sched
status 0
cat "$FAKE_LOG" >> "$WORK/transcript"
same xen/host.xen "$XEN"
says xen/host.xen.meta.json burny
is "$(flight xen 'f["cause"]')" end

# xentrace ends before it has written all: what came is kept, and it is said
xen_host
split_trace "$XEN"
cp "$FAKE_DATA/first" "$FAKE_DATA/1"
mv "$FAKE_DATA/second" "$FAKE_DATA/end"
FAKE_CUT=1 run record --flight=60 -d 0.6 -o xen_cut
status 3
says "$ERR" "xentrace did not write all of Xen's records; it says: Write failed!"
is "$(json xen_cut/recording.json 'j["state"], len(j["files"])')" "('failed', 1)"
same xen_cut/host.xen "$FAKE_DATA/first"

# the last second alone
xen_host
split_trace "$XEN"
mv "$FAKE_DATA/first" "$FAKE_DATA/1"
begin --flight=2 -o xen_last
sleep 5
cp "$FAKE_DATA/second" "$FAKE_DATA/copy"
mv "$FAKE_DATA/copy" "$FAKE_DATA/2"
wait_for test ! -e "$FAKE_DATA/2"
kill -TERM "$PID"
ended
status 0
same xen_last/host.xen "$FAKE_DATA/second"
is "$(json xen_last/recording.json 'j["state"], j["reason"]')" "('stopped', 'Terminated')"

# a condition, by the names of the sidecar
xen_host
split_trace "$XEN"
mv "$FAKE_DATA/first" "$FAKE_DATA/1"
begin --flight=60 -o xen_fired --trigger 'preempted>1us' --trigger 'exit>3600'
ended
status 0
read -r cost time vcpu <<< "$(worst xen_fired steal)"
is "$(flight xen_fired '[(t["condition"], t["vcpu"], t["cost_ns"], t["time_ns"]) for t in f["triggers"]]')" \
	"[('preempted>1us', '$vcpu', $cost, $time)]"

# others have begun to trace while it was written
xen_host
split_trace "$XEN"
cp "$FAKE_DATA/first" "$FAKE_DATA/1"
begin --flight=60 -o xen_left
mkdir -p "$KSHARK_VIRT_ROOT/proc/4321"
echo xentrace > "$KSHARK_VIRT_ROOT/proc/4321/comm"
kill -USR1 "$PID"
ends "$PID"
status 3
says "$ERR" 'tracing is in use: process 4321 is xentrace'
is "$(json xen_left/recording.json 'j["state"]') $(json xen_left-2/recording.json 'j["state"]')" "complete failed"

# a window without records that anybody could read: how many there are is not known
xen_host
{ printf '\003\360\001\040\0\0\0\0\144\0\0\0'; head -c 100 /dev/zero; } > "$FAKE_DATA/1"
run record --flight=60 -d 0.6 -o xen_uncounted
status 3
is "$(json xen_uncounted/recording.json '[(f.get("records"), f.get("lost")) for f in j["files"]]')" "[(None, None)]"
check "no number of records is printed" test -z "$(grep " records, " "$ERR")"

# where vCPUs were when it began is forgotten: that may be long before what is kept
xen_host
split_trace "$XEN"
cp "$FAKE_DATA/first" "$FAKE_DATA/1"
place='{ "pcpu": 2, "state": "running", "cpu_time_ns": 18446744073709551615 }'
FAKE_VCPUS=', "vcpus": [ { "id": 0, "hard_affinity": "2", "begin": '$place', "end": '$place' }, 7 ]' \
	run record --flight=60 -d 0.6 -o xen_places
status 0
is "$(json xen_places/host.xen.meta.json 'j["domains"][0]["vcpus"], j["cpu_khz"]')" \
	"([{'id': 0, 'hard_affinity': '2', 'end': {'pcpu': 2, 'state': 'running', 'cpu_time_ns': 18446744073709551615}}, 7], 2300000)"

# what hangs is waited for a while, and killed; what came is kept
xen_host
split_trace "$XEN"
cp "$FAKE_DATA/first" "$FAKE_DATA/1"
FAKE_HANG=1 timeout -s KILL 60 "$KSV_BIN" record --flight=60 -d 0.6 -o xen_hangs > "$OUT" 2> "$ERR" < /dev/null
STATUS=$?
status 3
says "$ERR" "xentrace did not write all of Xen's records"
same xen_hangs/host.xen "$FAKE_DATA/first"

# killed: xentrace may not have ended tracing
xen_host
begin --flight=60 -o xen_killed
kill -9 "$PID"
wait "$PID" 2> /dev/null
run record --flight=60 -d 0.4 -o xen_after
status 3
says "$ERR" 'was killed: Xen may have traced until now; its records in memory are lost'
is "$(json xen_killed/recording.json 'j["state"]')" stopped

# no trace, no xentrace, no events for it
xen_host
head -c 100 /dev/zero | tr '\0' x > "$FAKE_DATA/1"
attempt --flight -o garbage
status 3
xen_host
FAKE_DIE=1 attempt --flight -o xen_dies
status 3
check "no folder is left" test ! -e xen_dies
attempt --flight --events sched --trigger 'exit>1ms'
attempt --flight --events hvm --trigger 'wake>1ms'
attempt --flight --trigger 'irq>1ms'

# a busy machine has its own
sed -E -e '/^judging the records takes /d' -e 's/in at most [0-9.]+ [kMGT]B of memory/in at most SIZE of memory/' -e 's/wake(>|.max=)[0-9]{4,}ns/wake\1COST/' \
	"$WORK/transcript" > "$WORK/transcript.same"
golden t108_record_flight "$WORK/transcript.same"
finish
