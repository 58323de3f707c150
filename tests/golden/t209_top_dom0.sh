# SPDX-License-Identifier: LGPL-2.1-or-later
# top in dom0 of Xen runs xentrace: it shows what a pipe from xentrace shows, ends xentrace, and leaves nothing.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

export TMPDIR=$WORK/temp
mkdir "$TMPDIR"
cat > "$WORK/bin/xentrace" << 'S'
#!/bin/bash
[ "$1" = --version ] && { echo "xentrace v1.2"; exit; }
echo "xentrace $*" >> "$FAKE_LOG"
[ -z "${FAKE_DIE:-}" ] || { echo "Failure to get trace buffer pointer from Xen" >&2; exit 1; }
trap 'echo interrupted >> "$FAKE_LOG"; exit' INT
cat "$FAKE_SAMPLE" > "${!#}"
[ -z "${FAKE_END:-}" ] || { echo "no such domain" >&2; exit 1; }
while :; do sleep 0.05; done
S
cat > "$WORK/bin/kshark-virt-xen-meta" << 'S'
#!/bin/bash
[ "$1" != --buffers ] || { echo '{ "trace_buffer_pages": 32, "max_pcpus": 4 }'; exit; }
[ -z "${FAKE_OTHER_XEN:-}" ] || { echo "made for another Xen" >&2; exit 3; }
cp "$FAKE_SAMPLE.meta.json" "${!#}"
trap 'exit 0' TERM
while kill -0 "$PPID" 2>/dev/null; do sleep 0.05; done
S
chmod +x "$WORK/bin"/*
export FAKE_SAMPLE=$SAMPLES/saved.xen
dom0()
{
	tree record_xen.tree
	: > "$FAKE_LOG"
}
# begin OPTION...: in the background, until it has printed something
begin()
{
	: > "$OUT"
	env --default-signal=INT "$KSV_BIN" top "$@" > "$OUT" 2> "$ERR" < /dev/null &
	PID=$!
	wait_for test -s "$OUT"
}
nothing_left()
{
	check "no folder is left: $(ls "$TMPDIR")" test -z "$(ls "$TMPDIR")"
	check "no xentrace is left" none_runs xentrace
}
# the same as from a pipe, with the names of the sidecar
dom0
"$KSV_BIN" top -q -f csv --interval 200ms --sidecar "$FAKE_SAMPLE.meta.json" - < "$FAKE_SAMPLE" > "$WORK/piped" \
	2> "$WORK/piped.err"
rows() # FILE
{
	grep -v ',warning,' "$1"
}
check "there is a sample: $(cat "$WORK/piped.err")" test "$(rows "$WORK/piped" | wc -l)" -gt 1000
begin -q -f csv --interval 200ms
many() { [ "$(rows "$OUT" | wc -l)" -gt 300 ]; }
wait_for many
# what Ctrl-C cuts off is not printed yet, and the last interval may be on its way
cp "$OUT" "$WORK/begun"
kill -INT "$PID"
ends "$PID"
status 0
rows "$WORK/begun" | python3 -c '
import sys
lines = list(sys.stdin)
last = lines[-2].split(",")[0]
sys.stdout.writelines(line for line in lines[:-1] if line.split(",")[0] != last)' > "$WORK/own"
wanted=$(wc -l < "$WORK/own")
check "intervals are compared: $wanted rows" test "$wanted" -gt 100
rows "$WORK/piped" | head -n "$wanted" > "$WORK/wanted"
same "$WORK/wanted" "$WORK/own"
is "$(head -1 "$FAKE_LOG" | sed 's|/fd/.*|/fd/N|')" "xentrace -D -e 0x002bf000 -S 32 /proc/self/fd/N"
is "$(tail -1 "$FAKE_LOG")" interrupted
nothing_left

# one interval is enough, without what Xen knows as well
dom0
FAKE_OTHER_XEN=1 run top --once
status 0
says "$ERR" "names, clock and placement of vCPUs"
nothing_left

# killed, it leaves no xentrace
dom0
begin -q
check "there is a folder" test -n "$(ls "$TMPDIR")"
kill -9 "$PID"
wait "$PID" 2> /dev/null
wait_for none_runs xentrace
rm -r "$TMPDIR"/*

# xentrace fails, at once or later
dom0
FAKE_DIE=1 run top
status 3
says "$ERR" "xentrace does not begin; it says: Failure to get trace buffer pointer from Xen"
nothing_left
dom0
FAKE_END=1 run top -q
status 3
says "$ERR" "xentrace has ended; it says: no such domain"
check "what came before is shown" test -s "$OUT"
nothing_left

# another one traces, and there is none
dom0
mkdir "$KSHARK_VIRT_ROOT/proc/77"
echo xentrace > "$KSHARK_VIRT_ROOT/proc/77/comm"
run top
status 3
says "$ERR" "tracing is in use: process 77 is xentrace"
dom0
echo > "$KSHARK_VIRT_ROOT/proc/xen/capabilities"
run top
status 3
says "$ERR" "this is a Xen guest"
nothing_left
finish
