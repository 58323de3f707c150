# SPDX-License-Identifier: LGPL-2.1-or-later
# record into buffers of its own, in the tracefs of this machine: others trace on, no setting changes, and a killed
# recorder loses nothing.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

REAL=/sys/kernel/tracing
skip() { echo "$*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root may trace"
if [ -z "${OWN_MOUNTS:-}" ]; then
	probe=$REAL/instances/kshark-virt-probe-$$
	mkdir "$probe" 2> /dev/null || skip "tracefs of this machine has no instances"
	rmdir "$probe"
	OWN_MOUNTS=1 unshare -m true 2> /dev/null || skip "no namespace for mounts"
	command -v trace-cmd > /dev/null || skip "trace-cmd is not installed"
	cd / && rm -rf "$WORK"
	OWN_MOUNTS=1 exec unshare -m bash "$0"
fi

# the tracefs, clocks and processes of this machine, in a tree that has KVM
tree record_host.tree
rm -r "$KSHARK_VIRT_ROOT"/sys/kernel/{tracing,debug/kvm/*-8} "$KSHARK_VIRT_ROOT"/proc "$KSHARK_VIRT_ROOT/perf_tsc"
mkdir -p "$TRACING" "$KSHARK_VIRT_ROOT/proc"
mount --bind "$REAL" "$TRACING"
mount --bind /proc "$KSHARK_VIRT_ROOT/proc"
EVENTS=sched_switch,sched_wakeup
settings() { head -n 50 "$REAL"/{tracing_on,set_event,trace_clock,buffer_size_kb,current_tracer}; }
instances() { ls "$REAL/instances" | grep -c '^kshark-virt-record-'; }
# busy: something to record
busy() { for ((i = 0; i < 20; i++)); do sleep 0.02; done; }

# another program traces, with a buffer, a clock and an event of their own
kernel_event=$(cat "$REAL/events/sched/sched_process_exit/enable")
echo 1 > "$REAL/events/sched/sched_process_exit/enable"
trap 'echo "$kernel_event" > "$REAL/events/sched/sched_process_exit/enable"
	cd /; umount "$TRACING" "$KSHARK_VIRT_ROOT/proc"; rm -rf "$WORK"' EXIT
settings > "$WORK/before"
vmstat -s > "$WORK/vmstat-before"
run record -o own --events "$EVENTS" -d 2
status 0
vmstat -s > "$WORK/vmstat-after"
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"
is "$(instances)" 0
check "only what belongs there" test "$(ls own | tr '\n' ' ')" = \
	"host.dat host.dat.meta.json host.dat.samples.csv recording.json "
is "$(json own/recording.json 'j["state"], j["files"][0]["clock"], j["files"][0]["lost"]')" "('complete', 'mono', 0)"
# the kernel counted the records that trace-cmd finds in the trace
is "$(trace-cmd report own/host.dat 2> /dev/null | grep -c ': sched_')" \
	"$(json own/recording.json 'j["files"][0]["records"]')"
check "there are records" test "$(json own/recording.json 'j["files"][0]["records"]')" -gt 10
names_clock() { trace-cmd dump --all "$1" 2> /dev/null | grep -q '"mono" clock'; }
check "the trace names its clock" names_clock own/host.dat
check "its times are of CLOCK_MONOTONIC" python3 - "$(trace-cmd report own/host.dat 2> /dev/null |
	sed -nE 's/.* ([0-9]+)\.[0-9]+: sched_.*/\1/p' | head -1)" << 'END'
import sys, time
assert 0 <= time.monotonic() - int(sys.argv[1]) < 600, sys.argv
END
run report --format json -q own
status 0

# the samples: no more was counted than vmstat saw before and after, and as many switches as the trace has, but for
# 1/4 s: a recorder that waits for a CPU reads the counters later than the clock
is "$(stat -c %a own/host.dat.samples.csv)" 600
run report --over-time=1 --format csv -q own
status 0
cp "$OUT" "$WORK/over-time.csv"
check "samples" python3 - "$WORK" own/host.dat.samples.csv << 'END'
import csv, re, sys
def total(name, what):
    return int(re.search(r"^ *(\d+) .*\b%s$" % what, open(sys.argv[1] + "/" + name).read(), re.M)[1])
samples = list(csv.DictReader(open(sys.argv[2])))
assert len(samples) >= 3 and all(len(one) == 31 for one in samples), samples
for key, what in ("switches", "CPU context switches"), ("interrupts", "interrupts"), ("forks", "forks"):
    begin, end = int(samples[0][key]), int(samples[-1][key])
    assert total("vmstat-before", what) <= begin <= end <= total("vmstat-after", what), (key, begin, end)
assert int(samples[0]["memory_bytes"]) == total("vmstat-after", "K total memory") * 1024
rows = list(csv.DictReader(open(sys.argv[1] + "/over-time.csv")))
ours, theirs = (sum(int(row[key]) for row in rows) for key in ("switches", "sampled_switches"))
assert abs(ours - theirs) <= 20 + ours / 8, (ours, theirs)
for row in rows:
    assert float(row["sampled_runnable"]) >= 1, row
END

# as long as a command runs; the flight recorder
run record -o commanded --events "$EVENTS" -- bash -c 'sleep 0.3'
status 0
run record -o flown --flight=60 --events "$EVENTS" -d 1
status 0
is "$(json flown/recording.json 'j["files"][0]["records"] > 10, j["files"][0]["clock"]')" "(True, 'mono')"
is "$(instances)" 0

# killed: the process that copies goes on until all is in files, and the next recorder makes a trace of them
"$KSV_BIN" record -o killed --events "$EVENTS" > "$OUT" 2> "$ERR" < /dev/null &
PID=$!
wait_for grep -q 'recording into' "$ERR"
LOCK=$KSHARK_VIRT_ROOT/run/kshark-virt-record.lock
wait_for grep -q "instance kshark-virt-record-$PID folder " "$LOCK"
busy
kill -9 "$PID"
wait "$PID" 2> /dev/null
is "$(instances)" 1
run record -o after_killed --events "$EVENTS" -d 0.3
status 0
says "$ERR" "was killed: its buffers are removed; its data is in"
is "$(instances)" 0
check "there are records" test "$(trace-cmd report killed/host.dat 2> /dev/null | grep -c ': sched_')" -gt 10
check "the trace names its clock" names_clock killed/host.dat
check "no files of CPUs are left" test -z "$(ls killed | grep -e kept -e cpu)"

# the process that copies is killed, too
"$KSV_BIN" record -o both --events "$EVENTS" > "$OUT" 2> "$ERR" < /dev/null &
PID=$!
wait_for grep -q 'recording into' "$ERR"
wait_for test -s "$LOCK"
busy
recorder_of_lock
kill -9 "$PID" "$recorder"
wait "$PID" 2> /dev/null
run record -o after_both --events "$EVENTS" -d 0.3
status 0
check "the kernel's pages are used" test "$(trace-cmd report both/host.dat 2> /dev/null | grep -c ': sched_')" -gt 10
is "$(instances)" 0

# nothing happens that was asked for: a failure with the reason, and no command that cannot work
run record -o empty --events kvm_write_tsc_offset -d 0.3
status 3
says "$ERR" 'nothing was recorded: none of the events of --events kvm_write_tsc_offset occurred'
check "no commands" test ! -s "$OUT"
is "$(json empty/recording.json 'j["state"], j["reason"]')" "('failed', 'nothing was recorded')"
# another program stops the buffers
"$KSV_BIN" record -o stopped --events "$EVENTS" > "$OUT" 2> "$ERR" < /dev/null &
PID=$!
wait_for grep -q 'recording into' "$ERR"
busy
echo 0 > "$REAL/instances/kshark-virt-record-$PID/tracing_on"
kill -TERM "$PID"
ends "$PID"
says "$ERR" 'another program has stopped the buffers before the end'
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"
finish
