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
many() { [ "$(wc -l < "$OUT")" -gt 200 ]; }
nothing_left()
{
	check "no folder is left: $(ls "$TMPDIR")" test -z "$(ls "$TMPDIR")"
	check "no xentrace is left" no_xentrace
}
no_xentrace()
{
	! pgrep -f "$WORK/bin/xentrace" > "$WORK/pids"
}

# the same as from a pipe, with the names of the sidecar
dom0
"$KSV_BIN" top -q -f csv --interval 200ms --sidecar "$FAKE_SAMPLE.meta.json" - < "$FAKE_SAMPLE" > "$WORK/piped" \
	2> "$WORK/piped.err"
check "there is a sample: $(cat "$WORK/piped.err")" test "$(wc -l < "$WORK/piped")" -gt 100
begin -q -f csv --interval 200ms
wait_for many
kill -INT "$PID"
ends "$PID"
status 0
python3 - "$WORK/piped" "$OUT" << 'END' || fail "not as from a pipe"
import sys
piped, own = ([line for line in open(name) if ",warning," not in line] for name in sys.argv[1:])
# Ctrl-C may cut the last interval
last = own[-1].split(",")[0]
own = [line for line in own if line.split(",")[0] != last]
assert len(own) > 100 and own == piped[:len(own)], (len(own), len(piped))
END
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
wait_for no_xentrace
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
