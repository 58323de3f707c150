# SPDX-License-Identifier: LGPL-2.1-or-later
# The line of progress while "record" records: on a terminal, which is a pseudo terminal here, and nowhere else.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

cat > "$WORK/on_terminal.py" << 'P'
# on_terminal.py TEXT COMMAND...: what it writes to a terminal as its standard error, until TEXT has come
# there as often as it takes to know that the line changes; then Ctrl-C.
import os, pty, re, signal, sys
wanted = re.compile(sys.argv[1].encode())
master, slave = pty.openpty()
pid = os.fork()
if not pid:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for to, fd in enumerate((null, null, slave)):
        os.dup2(fd, to)
    os.execvp(sys.argv[2], sys.argv[2:])
os.close(slave)
signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGTERM))
signal.alarm(60)
said, interrupted = b"", False
while True:
    try:
        more = os.read(master, 4096)
    except OSError: # the other end is closed
        break
    said += more
    sys.stdout.buffer.write(more)
    sys.stdout.buffer.flush()
    if not interrupted and len({found[0] for found in wanted.finditer(said)}) >= 3:
        os.kill(pid, signal.SIGINT)
        interrupted = True
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P

# on_terminal TEXT ARGUMENT...: record there; what the terminal got is in $ERR
on_terminal()
{
	python3 "$WORK/on_terminal.py" "$1" "$KSV_BIN" record "${@:2}" > "$ERR"
	STATUS=$?
}
SIZE='[0-9.]+ ([kMGTPE]B|B)'
LINE=' *[0-9]+\.[0-9] s  [0-9]+ records/s  '"$SIZE"'  [0-9]+ lost  '"$SIZE"' left'

# a line that is drawn again and again, and taken away at the end: it goes back, and clears up to the end
kvm_host
FAKE_LOST=4711 FAKE_GROW=100000 on_terminal "$LINE" -o terminal
status 0
check "the line is there" grep -qaE $'\r'"$LINE"$'\e\\[K' "$ERR"
says "$ERR" '  4711 lost  '
check "and nothing of it when it ends" grep -qaE $'\r\e\\[K(writing|[0-9])' "$ERR"
is "$(json terminal/recording.json 'j["state"]')" complete
# one look after the other, the folder grows
sizes=$(grep -aoE "records/s  $SIZE" "$ERR" | sort -u | wc -l)
check "the size changes" test "$sizes" -ge 3

# as many records as there are more since the last look, a fifth of a second ago or a bit longer
kvm_host
: > "$ERR"
{
	wait_for grep -qa 'records/s' "$ERR"
	sed -i 's/^entries: .*/entries: 1000154/' "$TRACING/per_cpu/cpu0/stats"
} &
on_terminal '[1-9][0-9]* records/s|[1-3]\.[0-9] s ' -o counting
wait $!
status 0
rate=$(grep -aoE '[1-9][0-9]* records/s' "$ERR" | sort -n | tail -1)
check "the rate of a million in a look: $rate" \
	test "${rate% *}" -gt 100000 -a "${rate% *}" -le 5000000
is "$(grep -aoE '[1-9][0-9]* records/s' "$ERR" | wc -l)" 1

# not with --quiet, and not where it is no terminal
kvm_host
on_terminal recording.into --quiet -d 0.5 -o quiet
status 0
check "quiet" test -z "$(grep -aE 'records/s' "$ERR")"
kvm_host
run record -d 0.5 -o file
status 0
check "no line in a file" test -z "$(grep -aE $'records/s|\r|\e' "$ERR")"

# of Xen, records are worked out from the size
tree record_xen.tree
cat > "$WORK/bin/xentrace" << 'S'
#!/bin/bash
[ "$1" = --version ] && exit
trap 'cat "$FAKE_SAMPLE" > "${!#}"; exit 0' INT
: > "${!#}"
while :; do sleep 0.05; head -c 24000 /dev/zero >> "${!#}"; done
S
printf '#!/bin/sh\nexit 3\n' > "$WORK/bin/kshark-virt-xen-meta"
chmod +x "$WORK/bin"/*
FAKE_SAMPLE=$SAMPLES/pinned.xen on_terminal "$LINE" -o xen
status 0
check "the line is there" grep -qaE $'\r'" *[0-9.]+ s  [1-9][0-9]* records/s  $SIZE  0 lost" "$ERR"
finish
