# SPDX-License-Identifier: LGPL-2.1-or-later
# record in dom0 of Xen: xentrace's arguments, the helper beside it, losses, and what is missing.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

export FAKE_SAMPLE=$SAMPLES/lost-records.xen
cat > "$WORK/bin/xentrace" << 'S'
#!/bin/bash
[ "$1" = --version ] && { echo "${FAKE_SAYS:-xentrace v1.2}"; exit "${FAKE_STATUS:-0}"; }
out=${!#}
echo "xentrace $*" | sed "s|$(dirname "$out")|FOLDER|g" >> "$FAKE_LOG"
[ -z "${FAKE_DIE:-}" ] || { echo "Failure to get trace buffer pointer from Xen" >&2; exit 1; }
trap 'cat "$FAKE_SAMPLE" > "$out"; echo "xentrace is interrupted"; exit "${FAKE_END:-0}"' INT
: > "$out"
[ -z "${FAKE_FULL:-}" ] || {
	sleep 0.3
	cat "$FAKE_SAMPLE" > "$out"
	echo "Disk space limit reached" >&2
	exit 1
}
# buffers are made once, and not larger than Xen likes
sleep 0.1
while [ $# -gt 1 ]; do
	[ "$1" != -S ] || [ -s "$FAKE_PAGES" ] || echo "${FAKE_MADE:-$2}" > "$FAKE_PAGES"
	shift
done
while :; do sleep 0.05; [ -z "${FAKE_GROW:-}" ] || head -c "$FAKE_GROW" /dev/zero >> "$out"; done
S
cat > "$WORK/bin/kshark-virt-xen-meta" << 'S'
#!/bin/bash
[ "$1" = --buffers ] || echo "meta $*" | sed "s|$(dirname "${!#}")|FOLDER|g" >> "$FAKE_LOG"
[ -z "${FAKE_OTHER_XEN:-}" ] || { echo "made for another Xen" >&2; exit 3; }
[ "$1" != --buffers ] || {
	echo "{ \"trace_buffer_pages\": $(cat "$FAKE_PAGES"), \"max_pcpus\": ${FAKE_PCPUS:-4} }"
	exit
}
echo '{ "cpu_khz": 2300000, "domains": [ { "id": 1, "name": "burny" } ] }' > "${!#}"
trap 'exit 0' TERM
# the real one ends with its parent, too
while kill -0 "$PPID" 2>/dev/null; do sleep 0.05; done
S
chmod +x "$WORK/bin"/*
export FAKE_PAGES=$WORK/pages
xen_host() # a new one, whose Xen has just been started
{
	tree record_xen.tree
	: > "$FAKE_LOG"
	: > "$FAKE_PAGES"
}

xen_host
attempt -d 0.5 -o timed
status 0
cat "$FAKE_LOG" >> "$WORK/transcript"
same timed/host.xen "$FAKE_SAMPLE"
is "$(json timed/recording.json 'j["hypervisor"], j["state"], j["versions"]["xen"]')" \
	"('xen', 'complete', '4.17')"
is "$(json timed/recording.json 'j["files"][0]["records"], j["files"][0]["lost"]')" "(105409, 22338)"
run report --full timed
status 0
says "$OUT" burny

xen_host
FAKE_OTHER_XEN=1 attempt -o other --events minimal,hvm --buffer 1M --reserve 3M -- sleep 0.2
status 0
cat "$FAKE_LOG" >> "$WORK/transcript"
FAKE_GROW=100000 attempt -o limited --limit 500k
status 0
is "$(json limited/recording.json 'j["state"]')" stopped
FAKE_DIE=1 attempt -d 1 -o dies
status 3
check "no folder is left" test ! -e dies

# it fails at its end, or ends by itself: what was recorded is kept, and it is said
FAKE_END=1 attempt -d 0.2 -o failing
status 3
same failing/host.xen "$FAKE_SAMPLE"
is "$(json failing/recording.json 'j["state"], j["files"][0]["records"]')" "('failed', 105409)"
FAKE_FULL=1 attempt -d 60 -o by_itself
status 3
same by_itself/host.xen "$FAKE_SAMPLE"
is "$(json by_itself/recording.json 'j["state"], j["files"][0]["records"]')" "('failed', 105409)"

# the size of Xen's buffers: made before, too large, smaller than asked for
xen_host
attempt -d 0.2 -o first --buffer 256k
FAKE_LOG=/dev/null attempt -d 0.2 -o second --buffer 1M
FAKE_LOG=/dev/null attempt -d 0.2 -o third
is "$(cat "$FAKE_PAGES")" 64
xen_host
FAKE_PCPUS=121 attempt -d 0.2 -o ceiling --buffer 1G
cat "$FAKE_LOG" >> "$WORK/transcript"
xen_host
FAKE_MADE=16 attempt -d 0.2 -o fewer

# memory: some stays free
xen_host
meminfo() # MemAvailable in kB
{
	printf 'MemTotal: 640000 kB\nMemAvailable: %d kB\n' "$1" > "$KSHARK_VIRT_ROOT/proc/meminfo"
}
meminfo 19999
attempt -d 1 -o full
status 3
meminfo 19999
attempt -d 0.2 -o small --reserve 10M
status 0
meminfo 100000
: > "$ERR"
"$KSV_BIN" record -d 60 -o filling > "$OUT" 2> "$ERR" < /dev/null &
wait_for grep -q 'recording into' "$ERR"
meminfo 19999
ends "$!"
status 0
keep -d 60 -o filling
is "$(json filling/recording.json 'j["state"], j["reason"]')" \
	"('stopped', 'memory is nearly used up (--reserve)')"

xen_host

# killed: xentrace ends by itself, and the next one reports what is in the folder
"$KSV_BIN" record -o killed > "$OUT" 2> "$WORK/killed.err" < /dev/null &
wait_for grep -q 'recording into' "$WORK/killed.err"
recorder_of_lock
kill -9 $!
wait $! 2> /dev/null
wait_for gone "$recorder"
wait_for cmp -s killed/host.xen "$FAKE_SAMPLE"
attempt -d 0.2 -o after
status 0
is "$(json killed/recording.json 'j["state"], j["files"][0]["name"]')" "('stopped', 'host.xen')"

# what is missing
attempt -d 1 --events sched,nonsense
attempt -d 1 --guest burny
mkdir "$KSHARK_VIRT_ROOT/proc/77"
echo xentrace > "$KSHARK_VIRT_ROOT/proc/77/comm"
FAKE_STATUS=1 FAKE_SAYS="ERROR: Can't find version 4.20 of xen utils" attempt -d 1
echo > "$KSHARK_VIRT_ROOT/proc/xen/capabilities"
attempt -d 1
rm -r "$KSHARK_VIRT_ROOT/proc/xen"
attempt -d 1
golden t094_record_xen "$WORK/transcript"
finish
