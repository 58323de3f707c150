#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh SCENARIO WORKDIR: builds the lab in WORKDIR unless it is there, boots L1 in it, runs
# l1/scenarios/SCENARIO.sh there, and writes WORKDIR/out/SCENARIO, with what other tools say of it.
# BOOT, EVENTS, PARTS, ROUND, ROUNDS, BANDWIDTH in the environment: what some scenarios ask for.
# LAB_FILES: files that scenarios find in /share/lab/files. STOP=0 leaves L1 running.
# Kernels inside of emulated machines hang now and then: after a scenario that fails, or makes no sign of life for
# SILENT seconds, L1 is booted anew, TRIES times in all. Each failure is a line in WORKDIR/out/SCENARIO/tries.txt.
set -euo pipefail
HERE=$(dirname "$(readlink -f "$0")")
S=${1:?}; WORK=${2:?}; mkdir -p "$WORK/out"; WORK=$(readlink -f "$WORK")
with=
! grep -q '^# needs: tracers' "$HERE/l1/scenarios/$S.sh" || with=tracers
if [ ! -e "$WORK/.built" ] || { [ -n "$with" ] && [ ! -e "$WORK/root/.tracers-done" ]; }; then
    echo "$S: building the lab in $WORK (about ${with:+1}3 minutes)"
    "$HERE/build.sh" "$WORK" $with > "$WORK/build.log" 2>&1 ||
        { tail "$WORK/build.log"; echo "the lab cannot be built: $WORK/build.log"; exit 1; }
fi
l1_runs() { kill -0 "$(cat "$WORK/l1.pid" 2>/dev/null)" 2>/dev/null; }
# how long ago L1 has made a sign of life
silence() { echo $(($(date +%s) - $(stat -c %Y "$WORK/share/jobs/alive" 2>/dev/null || echo "$began"))); }
# "# needs: peer": a second L1, with a network between both; the scenario runs in both, as ROLE source and target
PEER=
! grep -q '^# needs: peer' "$HERE/l1/scenarios/$S.sh" || PEER=$WORK/peer
peer_runs() { [ -n "$PEER" ] && kill -0 "$(cat "$PEER/l1.pid" 2>/dev/null)" 2>/dev/null; }
end_peer() { ! peer_runs || kill -KILL "$(cat "$PEER/l1.pid")"; while peer_runs; do sleep 0.2; done; }
# net ADDRESS SERVER: L1_DEVICES for its end of the network
net() { echo "-netdev stream,id=net,server=$2,addr.type=unix,addr.path=$WORK/net.sock -device virtio-net-pci,netdev=net,mac=52:54:00:00:00:0$1"; }
start_peer() {
    end_peer; mkdir -p "$PEER"; ln -sf ../vmlinuz ../l1-initrd ../l2-initrd ../l1.ext4 "$PEER/"
    L1_DEVICES=$(net 2 off) "$HERE/l1-start.sh" "$PEER" || return 1
    mkdir -p "$PEER/share/lab/files"
    # shellcheck disable=SC2086
    [ -z "${LAB_FILES:-}" ] || cp -L $LAB_FILES "$PEER/share/lab/files/"
    rm -rf "$PEER/share/out/$S"
    echo "export PARTS='${PARTS:-}' ROLE=target; SCENARIO=$S bash /share/lab/scenarios/$S.sh" > "$PEER/share/jobs/$S.sh"
}
# one try; why it has failed is in $why
try() {
    began=$(date +%s)
    if [ -n "$PEER" ]; then
        # one frequency for both, as NTP makes it; what each measures by itself is 0.1 % wrong
        [ -x "$WORK/tsc_khz" ] || gcc -O2 -o "$WORK/tsc_khz" "$HERE/tsc_khz.c" || { why="gcc fails"; return 1; }
        export L1_CPUS=${L1_CPUS:-2} L1_MEM=${L1_MEM:-1024}
        export L1_APPEND="hpet=disable pmtmr=0 tsc_early_khz=$("$WORK/tsc_khz")"
        l1_runs || { rm -f "$WORK/net.sock"; export L1_DEVICES; L1_DEVICES=$(net 1 on); }
    fi
    l1_runs || "$HERE/l1-start.sh" "$WORK" || { why="L1 does not boot"; return 1; }
    [ -z "$PEER" ] || start_peer || { why="the second L1 does not boot"; return 1; }
    mkdir -p "$WORK/share/lab/files"; cp -r "$HERE"/l1/. "$WORK/share/lab/"
    # shellcheck disable=SC2086
    [ -z "${LAB_FILES:-}" ] || cp -L $LAB_FILES "$WORK/share/lab/files/"
    rm -rf "$WORK/share/out/$S" "$WORK/share/jobs/alive"; J=$WORK/share/jobs/$S-$(date +%H%M%S)
    # the sign of life ends with the job
    echo "while sleep 5; do echo > /share/jobs/alive; done & alive=\$!
$(for v in BOOT EVENTS PARTS ROUND ROUNDS BANDWIDTH; do [ -z "${!v:-}" ] || echo "export $v='${!v}'"; done)
${PEER:+export ROLE=source; }SCENARIO=$S bash /share/lab/scenarios/$S.sh; rc=\$?
kill \$alive; exit \$rc" > "$J.tmp"; mv "$J.tmp" "$J.sh"
    began=$(date +%s)
    for _ in $(seq "${TIMEOUT:-900}"); do
        [ -s "$J.rc" ] && break
        l1_runs || { why="L1 has ended"; return 1; }
        [ "$(silence)" -le "${SILENT:-120}" ] || { why="no sign of life for $(silence) s"; return 1; }
        sleep 1
    done
    [ -s "$J.rc" ] || { why="not done after ${TIMEOUT:-900} s"; return 1; }
    [ "$(cat "$J.rc")" = 0 ] || { why="failed: $(tail -n 1 "$J.log")"; return 1; }
}
failed=()
until try; do
    failed+=("try $((${#failed[@]} + 1)): $why")
    echo "$S: ${failed[-1]}"
    # whatever it does, it is to begin anew
    end_peer
    ! l1_runs || kill -KILL "$(cat "$WORK/l1.pid")"
    while l1_runs; do sleep 0.2; done
    [ ${#failed[@]} -lt "${TRIES:-3}" ] || { [ ! -e "${J:-}.log" ] || tail -n 15 "$J.log"; exit 1; }
done
# who comes next is not to find it on its way down
if [ "${STOP:-1}" != 0 ]; then
    touch "$WORK/share/jobs/poweroff"
    for _ in $(seq 30); do l1_runs || break; sleep 1; done
    ! l1_runs || kill -KILL "$(cat "$WORK/l1.pid")"
fi
end_peer
rm -rf "${WORK:?}/out/$S"; cp -r "$WORK/share/out/$S" "$WORK/out/$S"
[ -z "$PEER" ] || cp -r "$PEER/share/out/$S" "$WORK/out/$S/peer"
[ ${#failed[@]} = 0 ] || printf '%s\n' "${failed[@]}" > "$WORK/out/$S/tries.txt"
"$HERE/oracles.sh" "$WORK/out/$S"
