# SPDX-License-Identifier: LGPL-2.1-or-later
# record: a second one does not wait, and what a killed one has left is put right by the next.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

begin() # ARGUMENT...: in the background
{
	: > "$WORK/first.err"
	# what runs in the background ignores Ctrl-C otherwise
	env --default-signal=INT "$KSV_BIN" record "$@" > "$WORK/first.out" 2> "$WORK/first.err" < /dev/null &
	first=$!
	wait_for grep -q 'recording into' "$WORK/first.err"
	recorder_of_lock
}

# two at once
kvm_host
begin -o first
attempt -d 1 -o second
status 3
check "nothing was made" test ! -e second
check "what the first one has noted is there" grep -q "^pid $first recorder $recorder xen 0 " \
	"$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
kill -INT "$first"
ends "$first"
status 0
is "$(json first/recording.json 'j["state"]')" complete
restored

# only ours is killed: trace-cmd finishes
kvm_host
begin -o alone
kill -9 "$first"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
same alone/host.dat "$FAKE_SAMPLE"
is "$(json alone/recording.json 'j["state"]')" recording
# as a process does that ours had just started
lock=$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock
flock "$lock" sleep 1 &
wait_for eval '! flock -n "$lock" true'
attempt -d 0.2 -o after_alone
status 0
is "$(json alone/recording.json 'j["state"], j["reason"], j["files"][0]["name"]')" \
	"('stopped', 'kshark-virt record was killed', 'host.dat')"
restored

# both are
kvm_host
begin -o both
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
is "$(cat "$TRACING/set_event")" kvm:kvm_entry
printf 'the rest in the kernel' > "$TRACING/per_cpu/cpu1/trace_pipe_raw"
: > "$FAKE_LOG"
attempt -d 0.2 -o after_both
status 0
check "all of it is used" grep -aq 'the rest in the kernel' "$WORK/restored_from"
is "$(head -1 "$FAKE_LOG")" \
	"restore -o FOLDER/host.dat.made FOLDER/host.dat.kept0 FOLDER/host.dat.kept1"
is "$(json both/recording.json 'j["state"], j["files"][0]["name"]')" "('stopped', 'host.dat')"
check "no files of CPUs are left" test -z "$(ls both | grep -e kept -e cpu)"
restored

# on a disk without hard links: it is said, and what is in the kernel is kept nevertheless
kvm_host
: > "$KSHARK_VIRT_ROOT/no_links"
begin -o linkless
check "it is said at the start" grep -q 'linkless has no hard links' "$WORK/first.err"
check "there are no second names" test ! -e linkless/host.dat.kept0
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
printf 'the rest in the kernel' > "$TRACING/per_cpu/cpu1/trace_pipe_raw"
attempt -d 0.2 -o after_linkless
status 0
check "all of it is used" grep -aq 'the rest in the kernel' "$WORK/restored_from"
same linkless/host.dat "$FAKE_SAMPLE"
check "no files of CPUs are left" test -z "$(ls linkless | grep -e kept -e cpu)"
restored

# what is restored counts ns, as it was kept how long a cycle is
kvm_host
cycles "$WORK/cycles.dat"
begin -o scaled
is "$(json scaled/recording.json 'j["tsc_to_ns"]')" "{'mult': 827194131, 'shift': 31}"
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
FAKE_SAMPLE=$WORK/cycles.dat attempt -d 0.2 -o after_scaled
status 0
is "$(scale_of scaled/host.dat)" '827194131 31'
run report --full -q scaled
status 0
check "the time is that of ns" grep -q 'window  *164\.7' "$OUT"

# trace-cmd was killed while it wrote the trace: there is a part of it, and the files of CPUs are whole
kvm_host
begin -o cut
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
head -c 5000 "$FAKE_SAMPLE" > cut/host.dat
: > "$FAKE_LOG"
attempt -d 0.2 -o after_cut
status 0
same cut/host.dat "$FAKE_SAMPLE"
restored

# nothing can be made of them: they stay
kvm_host
begin -o stays
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
head -c 5000 "$FAKE_SAMPLE" > stays/host.dat
FAKE_NO_RESTORE=1 attempt -d 0.2 -o after_stays
status 0
check "the files of CPUs are kept" test -s stays/host.dat.kept0
check "no half trace is left" test ! -e stays/host.dat.made
restored

# a flight recorder, while it writes what it had kept in memory: that is there, and it is not said to be lost
kvm_host
rm -f "$WORK/restorer"
FAKE_SLOW=60 begin --flight -o flown
kill -INT "$first"
wait_for test -s "$WORK/restorer"
kill -9 "$first" "-$(cat "$WORK/restorer")"
wait "$first" 2> /dev/null
attempt -d 0.2 -o after_flown
status 0
same flown/host.dat "$FAKE_SAMPLE"
is "$(json flown/recording.json 'j["state"], [f["name"] for f in j["files"]]')" "('stopped', ['host.dat'])"
restored

# killed while trace-cmd changes settings: the next one waits for it, and restores them
kvm_host
FAKE_LATE=2 "$KSV_BIN" record --flight -o begins > "$WORK/first.out" 2> "$WORK/first.err" < /dev/null &
first=$!
wait_for grep -q '^start' "$FAKE_LOG"
kill -9 "$first"
wait "$first" 2> /dev/null
run record -d 0.2 -o after_begins
status 0
says "$ERR" "waiting for process"
wait_for none_runs trace-cmd
is "$(json after_begins/recording.json 'j["state"]')" complete
restored

# the same, and another program traces by then: nothing of theirs is touched, whatever they trace
for theirs in sched:sched_wakeup ''; do
	kvm_host
	rm -f "$WORK/restorer"
	FAKE_SLOW=60 begin --flight -o theirs
	kill -INT "$first"
	wait_for test -s "$WORK/restorer"
	kill -9 "$first" "-$(cat "$WORK/restorer")"
	wait "$first" 2> /dev/null
	echo "$theirs" > "$TRACING/set_event"
	[ -n "$theirs" ] || echo function > "$TRACING/current_tracer"
	echo 'local global mono [mono_raw]' > "$TRACING/trace_clock"
	echo 5000 > "$TRACING/buffer_size_kb"
	echo 1 > "$TRACING/tracing_on"
	echo theirs > "$TRACING/per_cpu/cpu1/trace_pipe_raw"
	attempt -d 0.2 -o after_theirs
	status 3
	is "$(cat "$TRACING/set_event")" "$theirs"
	is "$(cat "$TRACING/trace_clock")" 'local global mono [mono_raw]'
	is "$(cat "$TRACING/buffer_size_kb") $(cat "$TRACING/tracing_on")" '5000 1'
	is "$(cat "$TRACING/per_cpu/cpu1/trace_pipe_raw")" theirs
	same theirs/host.dat "$FAKE_SAMPLE"
	is "$(json theirs/recording.json 'j["state"]')" stopped
	check "the lock is empty" test ! -s "$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
	rm -rf theirs
done

# they have ended, and left another clock: it stays
kvm_host
begin -o ended
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
: > "$TRACING/set_event"
echo 'local global mono [mono_raw]' > "$TRACING/trace_clock"
attempt -d 1 -o after_ended --guest nobody=none
is "$(cat "$TRACING/trace_clock")" 'local global mono [mono_raw]'
check "the size of buffers is as it was" grep -q 1408 "$TRACING/buffer_size_kb"

# what trace-cmd leaves running is ended, and no other process
kvm_host
begin -o orphans
# as_trace_cmd GROUP FILE: a process that has the name of trace-cmd's; SIGUSR1 ends it
as_trace_cmd()
{
	python3 -c '
import os, signal, sys
os.setpgid(0, int(sys.argv[1]))
open("/proc/self/comm", "w").write("trace-cmd")
def end(*_):
    open(sys.argv[2], "w").write("flushed\n")
    sys.exit()
signal.signal(signal.SIGUSR1, end)
open(sys.argv[2], "w").write("begun\n")
while True:
    signal.pause()' "$1" "$2" &
}
as_trace_cmd "$recorder" orphans.said
child=$!
as_trace_cmd 0 other.said
other=$!
wait_for test -s orphans.said
wait_for test -s other.said
kill -9 "$first" "$recorder"
wait "$first" 2> /dev/null
wait_for gone "$recorder"
attempt -d 0.2 -o after_orphans
status 0
wait "$child"
is "$(cat orphans.said)" flushed
is "$(cat other.said)" begun
check "the process of another one goes on" kill -0 "$other"
kill "$other"
restored

# killed before it marked its own events: the tracer may be another program by now
kvm_host
mkdir unmarked
cp both/recording.json unmarked
lock="pid 1 recorder 4000000 xen 0 on 1 buffer 1408 clock local marked 0 0 - folder $PWD/unmarked"
printf %s "$lock" > "$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
echo sched:sched_switch > "$TRACING/set_event"
attempt -d 0.1 -o after_unmarked
status 3
says "$ERR" "another program may be tracing now, so no settings are restored"
is "$(cat "$TRACING/set_event")" sched:sched_switch
# none does
kvm_host
printf %s "$lock" > "$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
attempt -d 0.1 -o after_unmarked
status 0
says "$ERR" '(process 1) was killed: tracing settings are restored'

# whatever stands in the file of the lock does no harm
for text in x 'pid 1 recorder 1 xen 0 on 1 buffer 1 clock x marked 0 0 - folder relative' \
	"pid 1 recorder 1 xen 0 on 1 buffer 1 clock $(printf '%0100d' 0) marked ffff 1 local folder /" \
	'pid 99999999999 recorder -1 xen 0 on 1 buffer 0 clock local marked 0 0 - folder /nowhere'; do
	kvm_host
	echo "$text" > "$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
	rm -rf after_text
	attempt -d 0.1 -o after_text
	status 0
done
golden t092_record_killed "$WORK/transcript"

# a disk that others fill: trace-cmd cannot write its trace, what there is of it stays
if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null; then
	kvm_host
	mkdir "$WORK/disk"
	cat > "$WORK/full" << 'S'
mount -t tmpfs -o size="$SIZE" none "$WORK/disk" || exit 77
"$KSV_BIN" record -o "$WORK/disk/full" --reserve 0 -- \
	sh -c '[ "$SIZE" = 1m ] || head -c 3000000 /dev/zero > "$WORK/disk/others" 2> /dev/null'
status=$?
cat "$WORK/disk/full/recording.json" > "$WORK/full.json"
ls "$WORK/disk/full" > "$WORK/full.list"
exit $status
S
	export WORK KSV_BIN SIZE
	FAKE_SAMPLE=$SAMPLES/kvm-host.dat
	# without any room, and with room for a part
	for SIZE in 100k 1m; do
		unshare -m bash "$WORK/full" > "$OUT" 2> "$ERR" < /dev/null
		STATUS=$?
		status 3
		is "$(json "$WORK/full.json" 'j["hypervisor"]')" kvm
		check "the files of CPUs are kept" grep -q 'host.dat.kept0' "$WORK/full.list"
		# the next recorder finishes the folder, whose state had no room
		check "the folder is noted" grep -q "recorder -1 .* folder $WORK/disk/full" \
			"$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock"
		run record -o "$WORK/after_full" -d 0.1
		status 0
		rm -r "$WORK/after_full"
		restored
	done
fi
finish
