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
trap 'cat "$FAKE_SAMPLE" > "$out"; exit 0' INT
: > "$out"
while :; do sleep 0.05; [ -z "${FAKE_GROW:-}" ] || head -c "$FAKE_GROW" /dev/zero >> "$out"; done
S
cat > "$WORK/bin/kshark-virt-xen-meta" << 'S'
#!/bin/bash
echo "meta $*" | sed "s|$(dirname "${!#}")|FOLDER|g" >> "$FAKE_LOG"
[ -z "${FAKE_OTHER_XEN:-}" ] || { echo "made for another Xen" >&2; exit 3; }
echo '{ "cpu_khz": 2300000, "domains": [ { "id": 1, "name": "burny" } ] }' > "${!#}"
trap 'exit 0' TERM
# the real one ends with whoever started it, too
while kill -0 "$PPID" 2>/dev/null; do sleep 0.05; done
S
chmod +x "$WORK/bin"/*
xen_host()
{
	tree record_xen.tree
	: > "$FAKE_LOG"
}

xen_host
attempt -d 0.5 -o timed
status 0
cat "$FAKE_LOG" >> "$WORK/transcript"
same timed/host.xen "$FAKE_SAMPLE"
is "$(json timed/recording.json 'j["hypervisor"], j["state"], j["versions"]["xen"]')" \
	"('xen', 'complete', '4.17')"
is "$(json timed/recording.json 'j["files"][0]["records"], j["files"][0]["lost"]')" "(105409, 22338)"
run report timed
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

# killed: xentrace ends by itself, and the next one tells what is in the folder
"$KSV_BIN" record -o killed > "$OUT" 2> "$WORK/killed.err" < /dev/null &
wait_for grep -q 'recording into' "$WORK/killed.err"
kill -9 $!
wait $! 2> /dev/null
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
