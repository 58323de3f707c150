# SPDX-License-Identifier: LGPL-2.1-or-later
# record: guests by trace-cmd's agent and by ssh; one that goes away costs nothing of the others.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

# listen CID HOW: a process that listens where vsock would reach a guest: an agent of trace-cmd, as that one
# answers what it does not know, or one that says nothing, closes, or speaks another protocol
listen()
{
	rm -f "$KSHARK_VIRT_ROOT/vsock$1" "$WORK/ready"
	python3 -c 'import socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("ready", flush=True)
kept = []
while True:
    c = s.accept()[0]
    size, command, command_size = struct.unpack(">III", c.recv(12))
    assert size == 12 and command_size == 0, "not a message of trace-cmd"
    if sys.argv[2] == "agent" and command not in (5, 6, 10):
        c.send(struct.pack(">III", 12, 5, 0))
    if sys.argv[2] == "other":
        c.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    if sys.argv[2] == "half":
        c.send(b"\0\0\0\x0c\0")
    if sys.argv[2] == "mute":
        kept.append(c)
    c = None' "$KSHARK_VIRT_ROOT/vsock$1" "$2" > "$WORK/ready" &
	listeners+=($!)
	wait_for grep -q ready "$WORK/ready"
}
listeners=()

answering()
{
	listen 4 agent
}

# an agent that answers is asked, without being named
kvm_host
answering
FAKE_GUEST=db attempt -d 0.3 -o agents
status 0
cat "$FAKE_LOG" >> "$WORK/transcript"
kvm_host
answering
FAKE_GUEST=db FAKE_VERSION=3.1.2 run record -d 0.2 -o older
check "an older trace-cmd does not get what it does not know" test -z "$(grep -e --notimeout "$FAKE_LOG")"
is "$(json agents/recording.json '[(f["name"], f["role"]) for f in j["files"]]')" \
	"[('host.dat', 'host'), ('host-db.dat', 'guest')]"
is "$(json agents/recording.json '[(g["name"], g["how"], g.get("why")) for g in j["guests"]]')" \
	"[('web', 'none', 'no trace-cmd agent answers'), ('db', 'agent', None)]"

# what listens there is asked before anything begins
for how in mute close other half; do
	kvm_host
	listen 4 $how
	attempt -d 0.2 -o $how --guest db=agent
	status 3
	check "nothing is recorded" test ! -e $how -a ! -s "$FAKE_LOG"
done
attempt -d 0.2 -o half
status 0
is "$(json half/recording.json 'j["guests"][1]["how"], "another protocol" in j["guests"][1]["why"]')" \
	"('none', True)"
# trace-cmd cannot begin with an agent: it is recorded without one, unless that was asked for
kvm_host
answering
FAKE_NO_AGENTS=1 attempt -d 0.2 -o without
status 0
same without/host.dat "$FAKE_SAMPLE"
restored
is "$(json without/recording.json '[(g["how"], g["why"]) for g in j["guests"]][1]')" \
	"('none', 'trace-cmd could not start with its agent')"
kvm_host
answering
FAKE_NO_AGENTS=1 attempt -d 0.2 -o asked --guest db=agent
status 3
restored
# without one it does not even begin: it is not waited for
kvm_host
answering
FAKE_NO_AGENTS=1 FAKE_IDLE=1 KSHARK_VIRT_START_S=1 attempt -d 0.2 -o idle
status 3
check "trace-cmd has been ended" test -z "$(grep 'ended by itself' "$FAKE_LOG")"
is "$(grep -c ^record "$FAKE_LOG")" 2
restored

# ssh runs the rest of its arguments in a shell, with another trace-cmd
mkdir "$WORK/guest"
cat > "$WORK/guest/trace-cmd" << 'S'
#!/bin/bash
[ "$1" = --version ] && { echo "trace-cmd version 3.1.6"; exit; }
echo "$@" >> "$FAKE_LOG"
while [ "$1" != -o ]; do shift; done
out=$2
trap 'cp "${FAKE_SENDS:-$FAKE_SAMPLE}" "$out"; exit ${FAKE_GUEST_STATUS:-0}' INT
: > "$out.cpu0"
for ((i = 0; i < 400; i++)); do sleep 0.05; done
S
cat > "$WORK/bin/ssh" << 'S'
#!/bin/bash
command=${!#}
case $command in
echo\ uid*)
	echo "Warning: Permanently added 'web' (ED25519) to the list of known hosts." >&2
	printf 'uid=0.\ntrace-cmd version 3.1.5\nlocal mono [x86-tsc]\n'
	exit;;
esac
[ -z "${FAKE_GONE:-}" ] || { echo 'kshark-virt: recording' >&2; sleep 0.1; exit 255; }
[ -z "${FAKE_HANG:-}" ] || { echo 'kshark-virt: recording' >&2; head -c 1000 "$FAKE_SAMPLE"; sleep 600; }
[ -z "${FAKE_ENDLESS:-}" ] || {
	echo 'kshark-virt: recording' >&2
	read -r
	for ((i = 0; i < 400; i++)); do head -c 65536 /dev/zero || exit; sleep 0.02; done
}
[ -z "${FAKE_MUTE:-}" ] || { echo 'mktemp: no space' >&2; exit 1; }
PATH=$FAKE_GUEST_PATH:$PATH exec bash -c "set -m; $command"
S
chmod +x "$WORK/guest/trace-cmd" "$WORK/bin/ssh"
export FAKE_GUEST_PATH=$WORK/guest
kvm_host
attempt -d 0.3 -o ssh --guest web=ssh:root@web --guest db=none
status 0
grep -v FOLDER "$FAKE_LOG" >> "$WORK/transcript"
same ssh/host-web.dat "$FAKE_SAMPLE"
is "$(json ssh/recording.json '[(g["name"], g["how"]) for g in j["guests"]]')" \
	"[('web', 'ssh:root@web'), ('db', 'none')]"
is "$(json ssh/recording.json 'j["versions"]["trace-cmd"], j["versions"]["trace-cmd of web"]')" \
	"('3.1.6', '3.1.5')"
is "$(json ssh/recording.json '[(f["name"], f.get("guest"), f["clock"]) for f in j["files"]]')" \
	"[('host.dat', None, 'x86-tsc'), ('host-web.dat', 'web', 'x86-tsc')]"

# what it sends counts cycles: their length is added to it, at the speed that KVM lets its TSC have
cycles "$WORK/cycles.dat"
kvm_host
FAKE_SAMPLE=$WORK/cycles.dat run record -d 0.3 -o cycles --guest web=ssh:root@web
status 0
is "$(scale_of cycles/host-web.dat)" '827194131 31'
kvm_host
for vcpu in 0 1; do
	echo 562949953421312 > "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/160-8/vcpu$vcpu/tsc-scaling-ratio"
	echo 48 > "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/160-8/vcpu$vcpu/tsc-scaling-ratio-frac-bits"
done
FAKE_SAMPLE=$WORK/cycles.dat run record -d 0.3 -o twice --guest web=ssh:root@web
status 0
is "$(scale_of twice/host-web.dat)" '413597066 31'

# its clock is aligned at once, so that the folder opens as a whole
kvm_host
for vcpu in 0 1; do
	echo $((1013 + vcpu)) > "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/160-8/vcpu$vcpu/pid"
done
# both count cycles, and nothing shows how long these are
rm "$KSHARK_VIRT_ROOT/perf_tsc"
FAKE_SAMPLE=$SAMPLES/kvm-nosync.dat FAKE_SENDS=$SAMPLES/kvm-nosync-g1.dat \
	run record -d 0.3 -o aligned --guest web=ssh:root@web
status 0
check "it is aligned" test -z "$(grep 'some guests are not' "$ERR")"
run report --full aligned
status 0
check "each CPU is a vCPU" test "$(grep -c '^  CPU [01]: 100.000 % of [0-9]* records lie where web v[01] ' "$OUT")" = 2

# it goes away during the recording: the host's trace is there
kvm_host
FAKE_GONE=1 attempt -d 0.5 -o gone --guest web=ssh:root@web
status 0
same gone/host.dat "$FAKE_SAMPLE"
restored
# its trace-cmd fails, as its disk is full: what there is comes, and stays there as well
kvm_host
mkdir "$WORK/there"
TMPDIR=$WORK/there FAKE_GUEST_STATUS=1 attempt -d 0.3 -o part --guest web=ssh:root@web
status 0
is "$(json part/recording.json '[f["name"] for f in j["files"]], j["guests"][0].get("why")')" \
	"(['host.dat', 'host-web.dat'], 'it ended, or did not send all of its trace')"
says part/host-web.dat.log "the trace stays in $WORK/there/tmp."
is "$(cd "$WORK/there"/* && echo *)" 't.dat t.dat.cpu0'
# what it sends is no trace
kvm_host
FAKE_SENDS=$GOLDEN/record_host.tree run record -d 0.3 -o text --guest web=ssh:root@web
status 0
is "$(json text/recording.json '[f["name"] for f in j["files"]], "could not be made into a trace" in j["guests"][0]["why"]')" \
	"(['host.dat'], True)"
# it does not even begin
kvm_host
FAKE_MUTE=1 attempt -d 0.5 -o mute --guest web=ssh:root@web
status 3
restored

# ended ARGUMENT...: begun, ended by Ctrl-C, and then again, each time that it has printed something
ended()
{
	: > "$ERR"
	env --default-signal=INT "$KSV_BIN" record "$@" > "$OUT" 2> "$ERR" < /dev/null &
	local first=$!

	wait_for grep -q 'recording into' "$ERR"
	kill -INT "$first"
	wait_for grep -q '^writing' "$ERR"
	kill -INT "$first"
	wait_for grep -q '^waiting for' "$ERR"
	[ -n "${PATIENT:-}" ] || kill -INT "$first"
	ends "$first"
	sed -i -E 's/for [0-9]+ s at most/for N s at most/; s/; [0-9.]+ k?B are written/; SIZE are written/' "$ERR"
	keep "$@"
}

# a guest hangs at the end: by ssh, what has come of it stays, and is no trace
kvm_host
FAKE_HANG=1 ended -o hung --guest web=ssh:root@web
status 0
same hung/host.dat "$FAKE_SAMPLE"
restored
is "$(json hung/recording.json '[f["name"] for f in j["files"]]')" "['host.dat']"
is "$(wc -c < hung/host-web.dat)" 1000
says hung/recording.json 'the wait for it was abandoned: its data could not be made into a trace'
run report --full -q hung
status 0
# by its agent: trace-cmd waits for it, and the host's trace is made without it
kvm_host
answering
FAKE_STUCK=1 ended -o stuck
status 0
same stuck/host.dat "$FAKE_SAMPLE"
restored
is "$(json stuck/recording.json 'j["state"], [f["name"] for f in j["files"]], ["why" in g for g in j["guests"]]')" \
	"('complete', ['host.dat'], [True, True])"
# all of theirs has come, and the host's trace takes longer than the guests may: none of them is given up
kvm_host
answering
FAKE_GUEST=db FAKE_SLOW=9 KSHARK_VIRT_GUESTS_S=8 attempt -d 0.2 -o writing
status 0
same writing/host.dat "$FAKE_SAMPLE"
check "trace-cmd has written it itself" test -z "$(grep ^restore "$FAKE_LOG")"
is "$(json writing/recording.json 'j["state"], [f["name"] for f in j["files"]], ["why" in g for g in j["guests"]]')" \
	"('complete', ['host.dat', 'host-db.dat'], [True, False])"
# what came by an agent is not known to be all of it: its machine ended before, or trace-cmd failed
# after it had written it
kvm_host
answering
FAKE_GUEST=db FAKE_VANISH=681-8 attempt -d 0.2 -o vanished
status 0
kvm_host
answering
FAKE_GUEST=db FAKE_FAIL=1 attempt -d 0.2 -o broken
status 3
for folder in vanished broken; do
	same $folder/host.dat "$FAKE_SAMPLE"
	is "$(json $folder/recording.json '[f["name"] for f in j["files"]], ["why" in g for g in j["guests"]]')" \
		"(['host.dat', 'host-db.dat'], [True, True])"
done
# a machine goes on in another process, which has its name, while it is recorded; not if it is still there
goes_on() # FOLDER
{
	json "$1/host.dat.meta.json" '[(g["name"], g["pid"], g.get("continues")) for g in j["guests"]]'
}
kvm_host
FAKE_VANISH=681-8 FAKE_RESTORED=db run record -d 0.2 -o restored
status 0
is "$(goes_on restored)" "[('web', 160, None), ('db', 681, None), ('db', 900, 681)]"
kvm_host
FAKE_VANISH=681-8 FAKE_RESTORED=other run record -d 0.2 -o other
is "$(goes_on other)" "[('web', 160, None), ('db', 681, None), ('other', 900, None)]"
kvm_host
FAKE_RESTORED=db run record -d 0.2 -o both
is "$(json both/host.dat.meta.json '[g.get("continues") for g in j["guests"]]')" "[None, None, None]"
# the recorder is killed: what the guest sends is in the folder, and the next recorder reports it
kvm_host
: > "$ERR"
env --default-signal=INT FAKE_SAMPLE="$WORK/cycles.dat" "$KSV_BIN" record -o left --guest web=ssh:root@web \
	--guest db=ssh:root@db > "$OUT" 2> "$ERR" < /dev/null &
first=$!
wait_for grep -q 'recording into' "$ERR"
recorder_of_lock
kill -9 "$first"
wait "$first" 2> /dev/null
# trace-cmd restores the settings after its file is there; the next recorder would wait, and say so
wait_for gone "$recorder"
for file in host host-web host-db; do
	wait_for test -s left/$file.dat
done
wait_for cmp -s left/host-web.dat "$WORK/cycles.dat"
head -c 1000 "$WORK/cycles.dat" > left/host-db.dat
attempt -d 0.2 -o after_left
status 0
is "$(json left/recording.json 'j["state"], [(f["name"], f.get("guest")) for f in j["files"]]')" \
	"('stopped', [('host.dat', None), ('host-web.dat', 'web')])"
is "$(scale_of left/host-web.dat)" '827194131 31'
is "$(json left/recording.json '["no readable part" in g.get("why", "") for g in j["guests"]]')" '[False, True]'

# the next one aligns it, when its own recording is done, or could not begin
for next in "-d 0.2" "-d 0.2 --guest nobody=none"; do
	kvm_host
	rm "$KSHARK_VIRT_ROOT/perf_tsc"
	for vcpu in 0 1; do
		echo $((1013 + vcpu)) > "$KSHARK_VIRT_ROOT/sys/kernel/debug/kvm/160-8/vcpu$vcpu/pid"
	done
	: > "$ERR"
	env --default-signal=INT FAKE_SAMPLE="$SAMPLES/kvm-nosync.dat" FAKE_SENDS="$SAMPLES/kvm-nosync-g1.dat" \
		"$KSV_BIN" record -o unaligned --guest web=ssh:root@web > "$OUT" 2> "$ERR" < /dev/null &
	first=$!
	wait_for grep -q 'recording into' "$ERR"
	kill -9 "$first"
	wait "$first" 2> /dev/null
	wait_for cmp -s unaligned/host-web.dat "$SAMPLES/kvm-nosync-g1.dat"
	wait_for cmp -s unaligned/host.dat "$SAMPLES/kvm-nosync.dat"
	# shellcheck disable=SC2086
	run record $next -o after_unaligned
	says "$ERR" "unaligned: aligning the clocks of guests ..."
	check "it is aligned" test -z "$(grep 'some guests are not' "$ERR")"
	run report --full unaligned
	status 0
	check "each CPU is a vCPU" test "$(grep -c '^  CPU [01]: 100.000 % of [0-9]* records lie where web v[01] ' "$OUT")" = 2
	rm -rf unaligned after_unaligned
done

# to align the clocks takes long: Ctrl-C ends that, and nothing else
kvm_host
printf '#!/bin/sh\nsleep 600\n' > "$KSHARK_VIRT_ROOT/align"
chmod +x "$KSHARK_VIRT_ROOT/align"
: > "$ERR"
env --default-signal=INT "$KSV_BIN" record -d 0.2 -o tired --guest web=ssh:root@web > "$OUT" 2> "$ERR" < /dev/null &
first=$!
wait_for grep -q '^aligning' "$ERR"
kill -INT "$first"
ends "$first"
status 0
keep -d 0.2 -o tired --guest web=ssh:root@web
same tired/host.dat "$FAKE_SAMPLE"
is "$(json tired/recording.json 'j["state"]')" complete
# also if what is to be ended has hardly begun
cc -shared -fPIC -o "$WORK/slow_group.so" "$KSV_SOURCE_DIR/tests/hostile/slow_group.c"
: > "$ERR"
env --default-signal=INT ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" LD_PRELOAD="$WORK/slow_group.so" \
	"$KSV_BIN" record -d 0.2 -o hurried --guest web=ssh:root@web > "$OUT" 2> "$ERR" < /dev/null &
first=$!
wait_for grep -q '^aligning' "$ERR"
kill -INT "$first"
ends "$first"
status 0
is "$(json hurried/recording.json 'j["state"]')" complete

# all together have their time
kvm_host
answering
FAKE_STUCK=1 FAKE_HANG=1 KSHARK_VIRT_GUESTS_S=1 attempt -d 0.2 -o late --guest web=ssh:root@web
status 0
same late/host.dat "$FAKE_SAMPLE"
restored
# the host's trace is not given up
kvm_host
FAKE_SLOW=2 PATIENT=1 ended -o slow --guest web=none --guest db=none
status 0
same slow/host.dat "$FAKE_SAMPLE"
is "$(json slow/recording.json 'j["state"]')" complete

# names of machines are no names of files
kvm_host
printf 'qemu\0-name\0guest=../../x y\0' > "$KSHARK_VIRT_ROOT/proc/160/cmdline"
printf 'qemu\0-name\0guest=host\0' > "$KSHARK_VIRT_ROOT/proc/681/cmdline"
attempt -d 0.2 -o names --guest 160=ssh:root@web --guest host=ssh:root@web
status 0
is "$(ls names | grep 'dat$' | tr '\n' ' ')" 'host-guest1.dat host-guest2.dat host.dat '
# two of one name
printf 'qemu\0-name\0guest=host\0' > "$KSHARK_VIRT_ROOT/proc/160/cmdline"
attempt -d 0.2 -o twins --guest host=none
status 3
# they get names that differ, everywhere the same
for how in 681 host-681; do
	attempt -d 0.2 -o twins-$how --guest $how=ssh:root@web
	status 0
	is "$(json twins-$how/recording.json '[g["name"] for g in j["guests"]], j["files"][1]["guest"], j["files"][1]["name"]')" \
		"(['host-681', 'host-160'], 'host-681', 'host-host-681.dat')"
	is "$(json twins-$how/host.dat.meta.json '[(g["name"], g["vcpus"][0]["tid"]) for g in j["guests"]]')" \
		"[('host-160', 177), ('host-681', 694)]"
done
printf 'qemu\0-name\0guest=host\0-uuid\0004c4c4544-0042-4a10-8039-b1c04f4a4c31\0' > "$KSHARK_VIRT_ROOT/proc/160/cmdline"
run record -d 0.2 -o uuid
is "$(json uuid/recording.json '[(g["name"], g.get("uuid")) for g in j["guests"]]')" \
	"[('host-4c4c4544', '4c4c4544-0042-4a10-8039-b1c04f4a4c31'), ('host-681', None)]"
golden t093_record_guests "$WORK/transcript"
kill "${listeners[@]}"

# one that sends without end leaves room for the host's trace
if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null; then
	kvm_host
	mkdir "$WORK/disk"
	cat > "$WORK/endless" << 'S'
mount -t tmpfs -o size=8m none "$WORK/disk" || exit 77
"$KSV_BIN" record -d 0.2 -o "$WORK/disk/endless" --reserve 4M --guest web=ssh:root@web
status=$?
cp "$WORK/disk/endless/host.dat" "$WORK/endless.dat"
cp "$WORK/disk/endless/recording.json" "$WORK/endless.json"
exit $status
S
	export WORK KSV_BIN
	FAKE_ENDLESS=1 FAKE_SLOW=6 unshare -m bash "$WORK/endless" > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
	status 0
	says "$ERR" 'web: the rest of its trace is abandoned: the disk is nearly full (--reserve)'
	same "$WORK/endless.dat" "$FAKE_SAMPLE"
	is "$(json "$WORK/endless.json" '[f["name"] for f in j["files"]]')" "['host.dat']"
	restored
fi
finish
