# SPDX-License-Identifier: LGPL-2.1-or-later
# record on a host of KVM: what is written, what is said, and what ends it.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

kvm_host

# for a time
tsc=$(python3 "$GOLDEN/read_tsc.py")
attempt -d 0.5 -o timed
status 0
tsc+=" $(python3 "$GOLDEN/read_tsc.py")"
restored
same timed/host.dat "$FAKE_SAMPLE"
# the size is that of all, in the end
is "$(sed -nE 's/.* records, (.*), in timed/\1/p' "$ERR")" \
	"$(cat timed/* | wc -c | awk '{ printf("%.1f kB", $1 / 1024) }')"
cp timed/host.dat.meta.json "$WORK/sidecar"
cat "$FAKE_LOG" >> "$WORK/transcript"
check "only what belongs there" test "$(ls timed | tr '\n' ' ')" = \
	"host.dat host.dat.log host.dat.meta.json host.dat.samples.csv recording.json "
is "$(json timed/recording.json 'j["state"], j["files"][0]["records"], j["files"][0]["clock"]')" \
	"('complete', 681, 'x86-tsc')"
# a moment on the axis of the trace: by the recorded scale of the TSC
check "one moment on both clocks" python3 - timed/host.dat.meta.json << 'END'
import json, sys, time
moment = json.load(open(sys.argv[1]))["moment"]
assert abs(moment["realtime_ns"] - time.time_ns()) < 100 * 10 ** 9, moment
assert moment["trace_ns"] > 0, moment
END
# samples are on that axis, too: between the TSC before and after, as readers of the trace convert it
[ "$tsc" = " " ] || check "samples count as the trace does" python3 - timed/recording.json timed/host.dat.samples.csv $tsc << 'END'
import csv, json, sys
scale = json.load(open(sys.argv[1]))["tsc_to_ns"]
before, after = (int(tsc) * scale["mult"] >> scale["shift"] for tsc in sys.argv[3:])
times = [int(row["time_ns"]) for row in csv.DictReader(open(sys.argv[2]))]
assert len(times) >= 2 and before < times[0] and times == sorted(times) and times[-1] < after, (before, times, after)
END
is "$(json timed/recording.json '[(g["name"], g["how"]) for g in j["guests"]]')" \
	"[('web', 'none'), ('db', 'none')]"
is "$(json timed/recording.json 'j["command"]')" \
	"['kshark-virt', 'record', '-d', '0.5', '-o', 'timed']"
# it is for its owner alone, whatever the umask
check "the folder is private" test "$(stat -c %a timed)" = 700
check "so are the files" test "$(stat -c %a timed/* | sort -u)" = 600
# the three commands are right
while read -r _ command arguments; do
	[ "$command" = view ] || eval "run $command $arguments"
	[ "$command" = view ] || status 0
done < <(grep '^kshark-virt ' "$OUT")

# as long as a command runs; an offset changes during that
kvm_host
FAKE_OFFSET=-99 attempt -o commanded --events minimal --buffer 4M -- bash -c 'sleep 0.3; exit 7'
status 0
cat "$FAKE_LOG" commanded/host.dat.meta.json >> "$WORK/transcript"
is "$(json commanded/recording.json 'j["state"], j["events"]')" "('complete', 'minimal')"
is "$(json commanded/host.dat.meta.json '["tsc_offset_at_end" in v for g in j["guests"] for v in g["vcpus"]]')" \
	'[True, False, False, False]'
# a quota holds the machine during the recording; a thread is moved to another cgroup
kvm_host
FAKE_CGROUP=$KSHARK_VIRT_ROOT/sys/fs/cgroup/machine.slice/web attempt -o held -- bash -c '
	printf "nr_periods 41\nnr_throttled 38\nthrottled_usec 3000000\n" > "$FAKE_CGROUP/cpu.stat"
	echo 0::/machine.slice > "$KSHARK_VIRT_ROOT/proc/681/task/695/cgroup"'
status 0
is "$(json held/host.dat.meta.json '[v.get("cgroup") for g in j["guests"] for v in g["vcpus"]]')" '[2, 2, 3, None]'
is "$(json held/host.dat.meta.json '[(c["path"], c.get("above"), "begin" in c, "end" in c) for c in j["cgroups"]]')" \
	"[('/', None, True, True), ('/machine.slice', 0, True, True), ('/machine.slice/web', 1, True, True), ('/machine.slice/db', 1, False, False)]"
is "$(json held/host.dat.meta.json '[list(j["cgroups"][2][k].values()) for k in ("begin", "end")]')" \
	'[[20000, 100000, 31, 30, 2413020], [20000, 100000, 41, 38, 3000000]]'
is "$(json held/host.dat.meta.json '"quota_us" in j["cgroups"][1]["end"]')" False
# without cgroups, there is nothing about them
kvm_host
rm -r "$KSHARK_VIRT_ROOT"/proc/*/task/*/cgroup "$KSHARK_VIRT_ROOT/sys/fs/cgroup"
attempt -o no_cgroups -d 0.2
status 0
is "$(json no_cgroups/host.dat.meta.json '"cgroups" in j')" False
# an argument may be a password; the command has the umask of the user
is "$(json commanded/recording.json 'j["command"][-2:]')" "['--', 'bash']"
kvm_host
(
	umask 027
	run record -o shared --share --keep-command -- bash -c 'umask > umask.shared' --password=secret
)
is "$(json shared/recording.json 'j["command"][-3:]')" \
	"['-c', 'umask > umask.shared', '--password=secret']"
check "others may read it, as the umask allows" test "$(stat -c %a shared)" = 750
check "and its files" test "$(stat -c %a shared/* | sort -u)" = 640
kvm_host
(
	umask 027
	run record -o own_umask -- bash -c 'umask > umask.own' --password=secret
)
check "the password is in no file" test -z "$(grep -rl secret own_umask)"
is "$(cat umask.shared umask.own | sort -u)" 0027
run record --keep-command -d 1
status 2
kvm_host
echo -104046343700 > "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/160-8/vcpu1/tsc-offset"
attempt -o unequal -d 0.2
kvm_host
attempt -o killed_command -- bash -c 'kill -9 $$'
attempt -o no_command -- /nowhere/command

# without a clock that can be trusted; events of one's own
kvm_host
echo 'hpet acpi_pm' > "$KSHARK_VIRT_ROOT/sys/devices/system/clocksource/clocksource0/available_clocksource"
attempt -d 0.2 -o mono --events kvm_entry,kvm:kvm_exit,sched -g web=none -g db=none
cat "$FAKE_LOG" >> "$WORK/transcript"
check "the clock of the trace is CLOCK_MONOTONIC" python3 - mono/host.dat.meta.json << 'END'
import json, sys, time
moment = json.load(open(sys.argv[1]))["moment"]
zero = time.time_ns() - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
assert abs(moment["realtime_ns"] - moment["trace_ns"] - zero) < 10 ** 9, (moment, zero)
END
run rollup -q --host h mono
status 0

# with one whose cycles have an unknown length
kvm_host
rm "$KSHARK_VIRT_ROOT/perf_tsc"
attempt -d 0.2 -o unknown -g web=none -g db=none
is "$(json unknown/recording.json 'j["files"][0]["clock"], j.get("tsc_to_ns")')" "('mono', None)"

# signals: what was wanted, or less than that
interrupted() # SIGNAL ARGUMENT...
{
	kvm_host
	: > "$ERR"
	"$KSV_BIN" record -o "$@" > "$OUT" 2> "$ERR" < /dev/null &
	wait_for grep -q 'recording into' "$ERR"
	kill "-$SIGNAL" $!
	wait $!
	STATUS=$?
	status 0
	restored
	{
		echo "\$ kshark-virt record -o $*   # $SIGNAL"
		printed
	} >> "$WORK/transcript"
}
SIGNAL=TERM interrupted terminated
is "$(json terminated/recording.json 'j["state"]')" stopped
SIGNAL=HUP interrupted hung -d 100
is "$(json hung/recording.json 'j["state"], j["reason"]')" "('stopped', 'Hangup')"

# as soon as there is a recording.json, it says how it has ended
kvm_host
python3 - "$KSV_BIN" "$WORK/records/early" << 'END'
import os, signal, subprocess, sys, time
command, folder = sys.argv[1:]
child = subprocess.Popen([command, "record", "-q", "-o", folder], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while child.poll() is None and not os.path.exists(folder + "/recording.json"):
    pass
child.send_signal(signal.SIGTERM)
try:
    child.wait(120)
except subprocess.TimeoutExpired:
    child.kill()
END
is "$(json early/recording.json 'j["state"]')" stopped
restored

# limits: of the folder, of the disk
kvm_host
FAKE_GROW=100000 attempt -o limited --limit 500k
status 0
is "$(json limited/recording.json 'j["state"]')" stopped
kvm_host
left=$(($(stat -f -c '%a * %S' .) / 1024 / 1024))
FAKE_GROW=4000000 attempt -o reserved --reserve "$((left - 40))M" -d 60
status 0
is "$(json reserved/recording.json 'j["state"]')" stopped
rm -r reserved
sed -i "s/--reserve [0-9]*M/--reserve RESERVE/" "$WORK/transcript"

# losses
kvm_host
FAKE_LOST=1000000 attempt -d 0.3 -o lossy
is "$(json lossy/recording.json 'j["files"][0]["lost"]')" 1000000

# trace-cmd ends by itself, or fails at the end: what it wrote is kept
kvm_host
FAKE_SECONDS=2 attempt -d 20 -o ended
status 3
restored
kvm_host
FAKE_FAIL=1 attempt -d 0.3 -o failing
status 3
cat "$FAKE_LOG" >> "$WORK/transcript"
same failing/host.dat "$FAKE_SAMPLE"
is "$(json failing/recording.json 'j["state"], j["files"][0]["name"]')" "('failed', 'host.dat')"
check "second names are gone" test -z "$(ls failing | grep -e kept -e cpu)"
restored

sed -i 's/\("realtime_ns"\|"trace_ns"\): *[0-9]*/\1: NOW/' "$WORK/transcript" "$WORK/sidecar"
sed 's/kshark-virt-[0-9]\{8\}-[0-9]\{6\}/NAME/' "$WORK/transcript" > "$WORK/transcript.same"
golden t091_record_kvm "$WORK/transcript.same"
golden t091_record_kvm_sidecar "$WORK/sidecar"
finish
