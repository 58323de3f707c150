# SPDX-License-Identifier: LGPL-2.1-or-later
# top of this KVM host: buffers of its own, whose records show what a trace with the same records does; what it
# changes becomes as it was, and machines have their names.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/top_lib.sh"
. "$GOLDEN/record_lib.sh"

# take SAMPLE: its formats are those of a new host, which has no machines yet; $TRACE has its records
take()
{
	export KSHARK_VIRT_ROOT=$WORK/root
	rm -rf "$KSHARK_VIRT_ROOT"
	TRACING=$KSHARK_VIRT_ROOT/sys/kernel/tracing
	TRACE=$WORK/$1.6
	[ -e "$TRACE" ] || trace-cmd convert --file-version 6 --compression none \
		-i "$SAMPLES/$1.dat" -o "$TRACE" > "$WORK/converted" 2>&1 || cat "$WORK/converted"
	python3 "$GOLDEN/tracefs.py" formats "$TRACE" "$KSHARK_VIRT_ROOT"
	mkdir -p "$TRACING"/per_cpu/cpu{0,1,2,3} "$TRACING/instances" "$KSHARK_VIRT_ROOT"/{proc,run} \
		"$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm" "$KSHARK_VIRT_ROOT/sys/class/misc/kvm"
	echo 1 > "$TRACING/tracing_on"
	: > "$FAKE_LOG"
}
# machine NAME PID TID...: it runs on this host; the threads of its vCPUs
machine()
{
	local name=$1 pid=$2 n=0 tid
	shift 2

	mkdir -p "$KSHARK_VIRT_ROOT/proc/$pid/task/$pid"
	printf 'qemu-system-x86_64\0-name\0guest=%s,debug-threads=on\0' "$name" \
		> "$KSHARK_VIRT_ROOT/proc/$pid/cmdline"
	for tid; do
		mkdir -p "$KSHARK_VIRT_ROOT/proc/$pid/task/$tid" \
			"$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/$pid-8/vcpu$n"
		echo "CPU $n/KVM" > "$KSHARK_VIRT_ROOT/proc/$pid/task/$tid/comm"
		echo "$tid" > "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/$pid-8/vcpu$n/pid"
		n=$((n + 1))
	done
}
cc -shared -fPIC -o "$WORK/instances.so" "$KSV_SOURCE_DIR/tests/fake/instances.c"
export FAKE_INSTANCE=$WORK/bin/instance
cat > "$FAKE_INSTANCE" << 'S'
#!/bin/bash
cd "$2" || exit
case $1 in
make)
	[ -z "${FAKE_DIE:-}" ] || exit 0
	for cpu in 0 1 2 3; do
		mkdir -p "per_cpu/cpu$cpu"
		: > "per_cpu/cpu$cpu/trace_pipe_raw"
	done
	for event in ../../events/*/*/; do
		mkdir -p "${event#../../}"
		echo 0 > "${event#../../}/enable"
	done
	echo 1 > tracing_on
	echo local > trace_clock
	echo 1408 > buffer_size_kb
	;;
remove)
	[ -n "${FAKE_DIE:-}" ] || grep . tracing_on trace_clock buffer_size_kb >> "$FAKE_LOG"
	[ -n "${FAKE_DIE:-}" ] || grep -l 1 events/*/*/enable >> "$FAKE_LOG"
	rm -r "$2"
	;;
esac
S
chmod +x "$FAKE_INSTANCE"
# top, with instances
TOP=(env "ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0" "LD_PRELOAD=$WORK/instances.so" "$KSV_BIN" top)

# tids_of REPORT: its machines, and the threads of their vCPUs
tids_of()
{
	python3 - "$1" <<- 'END'
		import json, sys
		for machine in json.load(open(sys.argv[1]))["machines"]:
		    print(machine["machine"], *[vcpu["tid"] for vcpu in machine["vcpus"]])
		END
}

begun() { grep -qs 2048 "$TRACING"/instances/*/buffer_size_kb; }
# begin OPTION...: in the background; its buffers are in $INSTANCE
begin()
{
	: > "$ERR"
	"${TOP[@]}" "$@" > "$OUT" 2> "$ERR" < /dev/null &
	PID=$!
	wait_for begun
	INSTANCE=$(echo "$TRACING"/instances/kshark-virt-top-*)
}
feed() { python3 "$GOLDEN/tracefs.py" feed "$TRACE" "$INSTANCE" "$@"; }
# over: Ctrl-C, SIGTERM here
over()
{
	kill -TERM "$PID"
	ends "$PID"
	status "${1:-0}"
	check "its buffers are gone" test -z "$(ls "$TRACING/instances")"
}
# live OPTION...: what top prints of all records, in $OUT
live()
{
	begin -q --hold 1000 "$@"
	feed 1
	over
	check "nothing is said" test ! -s "$ERR"
}
# a sample as a file, without those names and numbers that only its own file has
whole()
{
	run top -q "$@" "$TRACE"
	status 0
	plain "$OUT" > "$WORK/whole"
	notes "$OUT" > "$WORK/whole.notes"
}
# plain FILE, notes FILE: of CSV, JSON or text
format_of() { case $(head -c 1 "$1") in "{") echo json;; f) echo csv;; *) echo text;; esac; }
plain() { without_notes "$(format_of "$1")" "$1"; }
notes() { notes_of "$(format_of "$1")" "$1"; }
has_rows() { test "$(grep -c . "$OUT")" -gt "$1"; }

# ---- it has the results of a file ----

intervals=0
for sample in kvm-shared kvm-ptp kvm-hypercall kvm-paused hypertrace-nested; do
	take $sample
	whole -f csv --interval 100ms
	live -f csv --interval 100ms
	plain "$OUT" > "$WORK/live"
	same "$WORK/live" "$WORK/whole"
	notes "$OUT" > "$WORK/live.notes"
	same "$WORK/live.notes" "$WORK/whole.notes"
	intervals=$((intervals + $(cut -d, -f1 "$OUT" | sort -u | wc -l)))
done
check "there are intervals ($intervals)" test $intervals -gt 60
# Of the host's tasks, too, by their pids: a file shows by later records which task works for which, and has the
# last name of each; where it ends, who has a pCPU after its last record is unknown.
by_pid()
{
	grep -v "^$(tail -n 1 "$1" | cut -d, -f1)," "$1" | grep -E ',task(_wait)?,' |
		sed -E 's/,[a-z0-9]+,,(task|task_wait),.*-([0-9]+,)/,\1,\2/' | sort
}
tasks=0
for sample in kvm-shared kvm-ptp; do
	take $sample
	whole -f csv --interval 100ms --tasks
	by_pid "$WORK/whole" > "$WORK/whole.tasks"
	live -f csv --interval 100ms --tasks
	by_pid "$OUT" > "$WORK/live.tasks"
	same "$WORK/live.tasks" "$WORK/whole.tasks"
	tasks=$((tasks + $(wc -l < "$WORK/live.tasks")))
done
check "there are tasks ($tasks)" test $tasks -gt 300
run top --tasks -f openmetrics
status 2
says "$ERR" 'there are no counters of tasks'
run top --tasks --listen 1
status 2
says "$ERR" 'leave out --tasks'
take kvm-shared
for format in text json; do
	whole -f $format --interval 300ms --vcpu g1
	live -f $format --interval 300ms --vcpu g1
	plain "$OUT" > "$WORK/live"
	same "$WORK/live" "$WORK/whole"
	notes "$OUT" > "$WORK/live.notes"
	same "$WORK/live.notes" "$WORK/whole.notes"
done

# what it records, and where
cp "$FAKE_LOG" "$WORK/transcript"

# A machine that ends is shown up to then, and its counters end; nothing shows that it is the one that
# begins later.
take kvm-restored
whole -f csv --interval 200ms
live -f csv --interval 200ms
# span NAME: the first and the last interval that a machine is in
span() { awk -F, -v name="$1" '$3 == name { if (!from) from = $1; to = $1 } END { print from, to }' "$OUT"; }
read -r from to <<< "$(span g2)"
read -r first last <<< "$(span g1)"
# until then, as the file does, which goes on with it
grep ,g1, "$OUT" > "$WORK/live"
grep ,g1, "$WORK/whole" | awk -F, -v last="$last" '$1 <= last' > "$WORK/file"
same "$WORK/live" "$WORK/file"
check "the first one is there from the beginning ($first)" test "$first" = "$from"
check "and not to the end ($last of $to)" test "$((last + 5000000000))" -lt "$to"
states=$(awk -F, -v at="$last" '$1 == at && $3 == "g1" && $4 == "g1v0" && $5 == "state" && $8 { print $6 }' "$OUT")
check "it ends in its last interval (${states//$'\n'/ })" test "$(tail -n 1 <<< "$states")" = offline
check "in which it was something else before" test "$(wc -l <<< "$states")" -gt 1
live -f openmetrics --interval 200ms -o "$WORK/virt.prom"
check "the other one has counters" grep -q 'machine="g2"' "$WORK/virt.prom"
check "it has none" test "$(grep -c 'machine="g1"' "$WORK/virt.prom")" = 0
says "$WORK/virt.prom" '# EOF'

# ---- while it goes on ----

# Intervals come half a second after their end; states are as they stay, exits are counted as they are.
take kvm-ptp
whole -f csv --interval 100ms --tasks
states() { grep -E ',(machine_)?state,' "$1" | cut -d, -f1-8; }
counts() { grep -E ',(exits|wakes|lost),' "$1" | cut -d, -f1-7; }
begin -q -f csv --interval 100ms --hold 200ms --tasks
feed 4 &
feeder=$!
wait_for has_rows 100
check "it prints while records come" kill -0 $feeder
wait $feeder
over
for what in states counts by_pid; do
	$what "$WORK/whole" > "$WORK/a"
	$what "$OUT" > "$WORK/b"
	same "$WORK/a" "$WORK/b"
done

# one interval, and counters that are replaced
begin -q -f csv --once --interval 200ms
feed 1
ends "$PID"
status 0
check "one interval" test "$(cut -d, -f1 "$OUT" | sort -u | wc -l)" = 2
check "its buffers are gone" test -z "$(ls "$TRACING/instances")"
begin -q -f openmetrics --interval 100ms --hold 100ms -o "$WORK/virt.prom"
feed 1
wait_for test -s "$WORK/virt.prom"
over
says "$WORK/virt.prom" '# EOF'

# ---- who is who ----

take kvm-shared
"$KSV_BIN" report -q --format json "$SAMPLES/kvm-shared.dat" > "$WORK/report"
mapfile -t tids < <(tids_of "$WORK/report" | cut -d ' ' -f 2- | tr ' ' '\n')
check "there are vCPUs (${#tids[@]})" test ${#tids[@]} -ge 2
machine 'odd "name"' 77 "${tids[@]}"
live -f csv --interval 1s
says "$OUT" ',"odd ""name"" v0",'
check "no other machine" test -z "$(cut -d, -f4 "$OUT" | grep -E '^g[0-9]')"
# one that begins later is looked for when its first vCPU does
take kvm-shared
begin -q -f csv --interval 1s --hold 1000
machine late 77 "${tids[@]}"
feed 1
over
says "$OUT" ',late v0,'

# ---- only the scheduler ----

# What the scheduler alone shows has the same numbers; the rest is unknown, and no event of KVM is on. A thread
# is a vCPU as debugfs has it.
take kvm-shared
whole -f csv --interval 10ms
"$KSV_BIN" report -q --format json "$TRACE" > "$WORK/report"
while read -r name tids; do
	# shellcheck disable=SC2086
	machine "$name" $((70 + ${name#g})) $tids
done < <(tids_of "$WORK/report")
: > "$FAKE_LOG"
live -f csv --interval 10ms --no-exits
check "events of KVM are off" test "$(grep -o '^events/[a-z]*' "$FAKE_LOG" | sort -u)" = events/sched
check "the same, or unknown" python3 - "$WORK/whole" "$OUT" <<- 'END'
	import csv, sys
	SCHEDULER = "preempted", "waking"
	def rows(path):
	    found = {}
	    for row in csv.reader(open(path)):
	        if row[2] and row[2] != "machine" and row[4] in ("state", "wakes", "culprit", "exits"):
	            found[row[0], row[1], row[3], row[4], row[5]] = row[6:]
	    return found
	whole, less = rows(sys.argv[1]), rows(sys.argv[2])
	def is_known(key):
	    return key[3] in ("wakes", "culprit") or key[3] == "state" and key[4] in SCHEDULER
	expected = {key: row for key, row in whole.items() if is_known(key)}
	assert len(expected) > 100 and any(key[3] == "culprit" for key in expected), len(expected)
	assert {key: row for key, row in less.items() if is_known(key)} == expected
	# time on a pCPU is known to be no other state, and not which one
	ON = "guest", "hypervisor", "polling", "vmm"
	n = 0
	for key in less:
	    if key[3] != "state" or key[4] != "unknown":
	        continue
	    rest = sum(int(whole.get(key[:4] + (state,), ["0", "0"])[1] or 0) for state in ON + ("unknown",))
	    rest += sum(int(whole.get(key[:4] + (state,), ["0", "0"])[1] or 0) for state in ("blocked", "offline"))
	    assert all(less[key[:4] + (state,)][1] == "" for state in ON), key
	    got = sum(int(less.get(key[:4] + (state,), ["0", "0"])[1] or 0) for state in ("blocked", "offline", "unknown"))
	    assert got == rest, (key, got, rest)
	    n += 1
	assert n > 50, n
	exits = [row for key, row in less.items() if key[3] == "exits"]
	assert exits and all(not any(row) for row in exits)
	END

# ---- what is lost, and what comes at the end ----

take kvm-shared
begin -f csv --interval 100ms --hold 100ms
feed 1 0 300000000 500000000 > "$WORK/missing"
over
says "$ERR" 'records were lost: larger buffers (--buffer) keep more'
# of that pCPU alone, as many as are missing
check "the loss is on pCPU 0" test "$(awk -F, '$3 == "" && $5 == "lost" { n[$4] += $7 }
	END { for (p in n) print p, n[p] }' "$OUT")" = "p0 $(cat "$WORK/missing")"
# half a page at the end; a page that is none
take kvm-shared
begin -f csv --interval 100ms --hold 100ms
feed 1
head -c 4096 /dev/urandom >> "$INSTANCE/per_cpu/cpu1/trace_pipe_raw"
head -c 1000 /dev/urandom >> "$INSTANCE/per_cpu/cpu2/trace_pipe_raw"
over

# more than may wait: what others may have to say is not waited for, and it goes on
take kvm-ptp
begin -f csv --interval 100ms --hold 0 --limit 8k
feed 2
over
says "$ERR" 'this host: waiting records exceeded --limit'
check "it goes on ($(cut -d, -f1 "$OUT" | sort -u | wc -l))" test "$(cut -d, -f1 "$OUT" | sort -u | wc -l)" -gt 15

# ---- beside a recording ----

take kvm-shared
mkdir "$WORK/recording"
state()
{
	printf '{ "recording_version": 1, "hypervisor": "kvm", "state": "%s", "files": [] }\n' "$1" \
		> "$WORK/recording/new.json"
	mv "$WORK/recording/new.json" "$WORK/recording/recording.json"
}
state recording
run top "$WORK/recording"
status 3
says "$ERR" 'is not being recorded on this host, or its recorder was killed'
LOCK=$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock
printf "pid 1 recorder 1 xen 0 on 1 buffer 1408 clock local marked 0 1408 mono folder %s" "$WORK/recording" > "$LOCK"
run top "$WORK/recording"
status 3
exec 7< "$LOCK"
flock 7
begin -f csv --interval 100ms --hold 1000 "$WORK/recording"
feed 1
state complete
ends "$PID"
exec 7<&-
status 0
says "$ERR" "is shown from top's own buffers, independent of the recording"
says "$ERR" 'this host: has ended, after'
whole -f csv --interval 100ms
same "$OUT" "$WORK/whole"
check "its buffers are gone" test -z "$(ls "$TRACING/instances")"

# ---- killed: the next one takes away what it left ----

begin -q -f csv
kill -9 "$PID"
wait "$PID" 2> /dev/null
check "its buffers are there" begun
mkdir "$TRACING/instances/of-somebody-else"
left=$INSTANCE
"${TOP[@]}" -q -f csv > "$OUT" 2> "$ERR" &
PID=$!
wait_for test ! -e "$left"
wait_for begun
kill -TERM "$PID"
ends "$PID"
check "others' are left alone" test "$(ls "$TRACING/instances")" = of-somebody-else

# ---- what is missing ----

attempt()
{
	"${TOP[@]}" "$@" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
	{
		echo "\$ kshark-virt top $*"
		cat "$OUT" "$ERR" | sed 's/top-[0-9]*/top-PID/'
		echo "status $STATUS"
	} >> "$WORK/transcript"
}
take kvm-shared
FAKE_DIE=1 attempt
check "nothing is left" test -z "$(ls "$TRACING/instances")"
# without exits, debugfs alone shows who is a vCPU
attempt --no-exits -
mv "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm" "$WORK/debugfs"
attempt --no-exits
check "nothing is left" test -z "$(ls "$TRACING/instances")"
mv "$WORK/debugfs" "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm"
mv "$TRACING/events/sched/sched_switch" "$WORK/sched_switch"
attempt --no-exits
mv "$WORK/sched_switch" "$TRACING/events/sched/sched_switch"
begin --no-exits
over
says "$ERR" "this host: VM exits are not recorded (--no-exits)"
check "no advice to record them" test "$(grep -c 'record it as well' "$ERR")" = 0
# without a machine it waits for one, and says so
begin
over
says "$ERR" "this host: no KVM machine runs; waiting for one, Ctrl-C ends it"
rm -r "$TRACING/instances"
attempt
rm -r "$TRACING/events/kvm"
attempt
rm "$TRACING/events/header_page"
attempt
rm -r "$KSHARK_VIRT_ROOT/sys"
attempt
mkdir -p "$KSHARK_VIRT_ROOT/sys/class/misc/kvm"
attempt
attempt --follow
attempt --from 1
attempt --interval 9ms
golden t206_top_host "$WORK/transcript"
finish
