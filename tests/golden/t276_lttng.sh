# SPDX-License-Identifier: LGPL-2.1-or-later
# Traces in CTF, as LTTng writes them: as host and as guest, in all commands. samples/lttng-*.tar.xz have the records
# of other samples, written by babeltrace2 (samples/record/lttng/make-ctf), so those are the oracle.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
tar -xJf "$SAMPLES/lttng-host.tar.xz" && tar -xJf "$SAMPLES/lttng-guest.tar.xz" || exit 1
cp "$SAMPLES/kvm-paused.dat" host.dat
cp "$SAMPLES/waits-timer.dat" "$SAMPLES/waits-timer-web.dat" .
mkdir tmp
export TMPDIR=$WORK/tmp

run report -q lttng-host
if grep -qF "which this build does not read" "$ERR"; then
	echo "this build has no libbabeltrace2"
	exit 77
fi
status 0

# Every number of the report is there, except bytes of records, and the records that only one of them has.
rows()
{
	"$KSV_BIN" report -q --format csv "$1" | sed '1d; s/^[^,]*,//' | grep -v '^volume_\|^task_records,,,CPU 0' | sort
}
rows host.dat > right
rows lttng-host/ > got
check "there are rows" test "$(wc -l < right)" -ge 150
comm -23 right got > missing
check "rows differ: $(head -3 missing)" test ! -s missing

# Records of tasks are counted by their threads, also where the trace records none and sched_switch shows them.
check "no thread is unknown" bash -c "! grep -q '^task_records,,,unknown' got"

# As a guest, aligned by causality: the times of waits-timer-web.dat are the host's, as trace-cmd has aligned them.
run align waits-timer.dat lttng-guest
status 0
offset=$(sed -n 's/^host time = guest time \([-+][0-9]*\) ns$/\1/p' "$OUT")
check "it is aligned within 100 us: $offset" test "${offset#[-+]}" -lt 100000
says "$OUT" "explained   100.000 %"
run align --write waits-timer.dat lttng-guest/
status 0
check "the sidecar is beside the folder" test -s lttng-guest.meta.json
run report waits-timer.dat lttng-guest
status 0
tasks()
{
	"$KSV_BIN" report -q --format csv "$@" | sed '1d; s/^[^,]*,//' | grep '^guest_task_executed,' |
		cut -d, -f1-4,6 | sed 's/,[^,]*-\([0-9]*\),/,\1,/' | sort -t, -k4,4
}
# by their numbers, as a thread may have several names
tasks waits-timer.dat waits-timer-web.dat > right
tasks waits-timer.dat lttng-guest > got
check "it has tasks" test "$(wc -l < right)" -ge 50
paste -d, right got | awk -F, '$4 != $9 || $3 != $8 || $5 - $10 > 20000 || $10 - $5 > 20000' > differ
check "its tasks run as in the trace.dat: $(head -3 differ)" test ! -s differ -a "$(wc -l < right)" -eq "$(wc -l < got)"

# A session folder with several traces: here a chunk of user space beside the kernel's.
python3 "$GOLDEN/ctf_make.py" session/kernel
python3 "$GOLDEN/ctf_make.py" other/kernel elsewhere
run report -q --format csv session
status 0
# Of each CPU, as ctf_make.py describes it: 7 events of channel c, 3 of CPU 1 before its first record.
says "$OUT" "session,pcpu,,p0,lost_records,7,"
says "$OUT" "session,pcpu,,p1,lost_records,3,"
says "$OUT" "session,exits,g1,,HLT,1,"
says "$OUT" "session,exits,g1,,MSR_WRITE,3,"
# the thread of records before the first switch; of those after the loss, by the switch at 60 us; the one of another
# channel in between has no vCPU
says "$OUT" "session,task_records,,,CPU 0/KVM-100,10,"
says "$OUT" "session,task_records,,,unknown,1,"
says "$OUT" "session,task_records,,,idle,2,"
run report --full session
says "$ERR" "session: it does not record all interrupts"
says "$ERR" "session: records were lost 3 times"
# LTTng's index has the number of events that CPU 1 lost in its first packet. A later chunk alone does not: packets
# before its first ones are elsewhere.
tar -xJf "$SAMPLES/lttng-rotated.tar.xz" || exit 1
cp -r lttng-rotated/archives/*-2 chunk
run report -q --full --format csv chunk
status 0
says "$OUT" "chunk,pcpu,,p2,lost,"
check "their number is unknown" bash -c "! grep -q '^chunk,pcpu,,p2,lost_records,' '$OUT'"
# an index that is none
for idx in chunk/kernel/index/*; do head -c 50 "$idx" > short && cp short "$idx"; done
run report -q --full --format csv chunk
check "it is read" test "$STATUS" -eq 0 -o "$STATUS" -eq 3
cp -r other/kernel session/other
run report session
status 3
says "$ERR" "session: it holds traces of several hosts. Give the folder of each host by itself"

# A context shows the threads of three events. Without the scheduler's, those of the other twelve are unknown.
python3 "$GOLDEN/ctf_make.py" threads/kernel box tids
run report -q --format csv threads
status 0
says "$OUT" "threads,task_records,,,task-7,3,"
says "$OUT" "threads,task_records,,,unknown,12,"

# Clocks without a common beginning; then with one, as both are the same clock.
for name in a b; do
	python3 "$GOLDEN/ctf_make.py" clocks/$name "b$name"
	sed -i "s/hostname = \"b.\"/hostname = \"box\"/; s/lttng-modules/other/
		s/^clock { /&uuid = \"00000000-0000-0000-0000-00000000000$name\"; /" clocks/$name/metadata
done
run report clocks
status 3
says "$ERR" "clocks: it holds traces whose clocks have no common beginning"
sed -i 's/-00000000000b"/-00000000000a"/' clocks/b/metadata
run report -q --format csv clocks
status 0
says "$OUT" "clocks,pcpu,,p0,lost_records,14,"

# An event that goes back in time ends a trace.
python3 "$GOLDEN/ctf_make.py" back/kernel
python3 - << 'EOF'
import struct
with open("back/kernel/c_0", "rb") as f:
    data = f.read()
with open("back/kernel/c_0", "wb") as f:
    f.write(data.replace(struct.pack("<IQ", 1, 51000), struct.pack("<IQ", 1, 49000)))
EOF
run report back
status 0
says "$ERR" "back: is damaged, and is read up to there: an event is earlier than the one before"

# Without CPUs, its 15 events would be rows of nothing.
cp -r other/kernel nowhere
sed -i 's/uint32_t cpu_id;/uint32_t other;/' nowhere/metadata
run report nowhere
status 3
says "$ERR" "nowhere: it does not record the CPUs of its 15 events"

# A recording of lttng-modules 2.13.9 in three chunks. babeltrace2 2.0.4 counts 1702 discarded events, and 2624 of
# kvm_x86_exit. Its kvm_x86_entry has an address of the kernel in place of the vCPU's number.
run report -q --format csv lttng-rotated
status 0
count()
{
	grep "$1" "$OUT" | awk -F, '{ n += $6 } END { print n + 0 }'
}
check "records are lost: $(count ',lost_records,')" test "$(count ',lost_records,')" -eq 1702
check "VM exits: $(count ',exits,g1,,')" test "$(count ',exits,g1,,')" -eq 2624
says "$OUT" "lttng-rotated,state,g1,g1v1,guest,"
check "there is one machine" bash -c "! grep -q ',g2,' '$OUT'"

# Other commands.
run why -q --worst 1 lttng-host
status 0
run export -q -f csv-tables -o tables lttng-host
status 0
check "tables are written" test -s tables/vcpu_intervals.csv -o -n "$(ls tables)"
some_plugins
run view --dry-run lttng-host
status 0
says "$OUT" "/lttng-host.dat"
check "the temporary directory is gone" test -z "$(ls -A tmp)"
# plugin-lttng opens folders by their own names, if KernelShark takes these
: > "$KSHARK_VIRT_PLUGIN_DIR/plugin-lttng.so"
mkdir "a b"
cp -r lttng-host named.dat
cp -r lttng-guest "a b/guest"
run view --dry-run lttng-host/ named.dat "a b/guest"
status 0
says "$OUT" "/plugin-lttng.so,"
says "$OUT" " lttng-host -a "
says "$OUT" "/named.ctf -a "
says "$OUT" "/guest"
says "$ERR" "a b/guest: opened as "
check "the temporary directory is gone" test -z "$(ls -A tmp)"

# The program that the plugin starts makes the same trace.dat as the command reads.
converter=$(dirname "$KSV_BIN")/../libexec/kshark-virt/kshark-virt-convert
"$converter" lttng-host > converted.dat 2> "$ERR" || check "it converts: $(cat "$ERR")" false
"$KSV_BIN" report -q --format csv lttng-host | sed 's/^[^,]*,//' > right
"$KSV_BIN" report -q --format csv converted.dat | sed 's/^[^,]*,//' > got
check "it has rows" test "$(wc -l < right)" -ge 150
check "the converted file has the same numbers" cmp right got
"$converter" lttng-host 2> "$ERR" | cat > piped.dat
statuses=${PIPESTATUS[0]}
check "a pipe is refused" test "$statuses" -eq 2 -a ! -s piped.dat
"$converter" tmp > converted.dat 2> "$ERR"
check "a folder without a trace is refused" test $? -eq 3
says "$ERR" "tmp: no folder with a trace in CTF"

# Damaged folders, and folders that are no traces.
damaged()
{
	rm -rf bad
	cp -r lttng-host/kernel bad
}
refused()
{
	run report -q bad
	status 3
	says "$ERR" "bad: $1"
	check "nothing is printed" test ! -s "$OUT"
	check "the temporary directory is empty" test -z "$(ls -A tmp)"
}
damaged; truncate -s 3000 bad/metadata
refused "libbabeltrace2 cannot read it: "
damaged; truncate -s 10000 bad/stream
refused "libbabeltrace2 cannot read it: Failed to index CTF stream file"
# a packet that is as large as 2^63 bits
damaged; printf '\377\377\377\377\377\377\377\177' | dd of=bad/stream bs=1 seek=40 conv=notrunc 2> /dev/null
refused ""
damaged; ln -s /etc/passwd bad/link
refused "bad/link: is a link, which may lead out of the trace"
damaged; mkfifo bad/fifo
refused "bad/fifo: not a regular file"
damaged; { echo '/* CTF 1.8 */'; yes 'typealias struct {' | head -200000; } > bad/metadata
refused "libbabeltrace2 cannot read it"
# metadata that its reader does not come to the end of
damaged; { echo '/* CTF 1.8 */'; head -c 30000000 /dev/zero | tr '\0' a; } > bad/metadata
(
	ulimit -S -t 1
	refused "its reader does not come to an end: it is damaged"
	exit "$failures"
) || failures=$((failures + 1))
damaged; truncate -s 65M bad/metadata
refused "bad/metadata: larger than the metadata of any trace"
# what comes before the damage is read
damaged; head -c 100 /dev/zero | tr '\0' '\377' | dd of=bad/stream-1 bs=1 seek=90000 conv=notrunc 2> /dev/null
run report bad
status 0
says "$ERR" "bad: is damaged, and is read up to there"
mkdir none
run report none
status 3
says "$ERR" "none: a folder without recording.json"

finish
