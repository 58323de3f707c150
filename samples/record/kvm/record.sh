#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh SCENARIO WORKDIR: builds the lab in WORKDIR unless it is there, boots L1 in it, runs
# l1/scenarios/SCENARIO.sh there, and writes WORKDIR/out/SCENARIO, with what other tools say of it.
# LAB_FILES in the environment: files that scenarios find in /share/lab/files. STOP=0 leaves L1 running.
set -euo pipefail
HERE=$(dirname "$(readlink -f "$0")")
S=${1:?}; WORK=${2:?}; mkdir -p "$WORK/out"; WORK=$(readlink -f "$WORK")
if [ ! -e "$WORK/.built" ]; then
    echo "$S: building the lab in $WORK (about 3 minutes)"
    "$HERE/build.sh" "$WORK" > "$WORK/build.log" 2>&1 ||
        { tail "$WORK/build.log"; echo "the lab cannot be built: $WORK/build.log"; exit 1; }
fi
kill -0 "$(cat "$WORK/l1.pid" 2>/dev/null)" 2>/dev/null || "$HERE/l1-start.sh" "$WORK"
mkdir -p "$WORK/share/lab/files"; cp -r "$HERE"/l1/. "$WORK/share/lab/"
# shellcheck disable=SC2086
[ -z "${LAB_FILES:-}" ] || cp -L $LAB_FILES "$WORK/share/lab/files/"
rm -rf "$WORK/share/out/$S"; J=$WORK/share/jobs/$S-$(date +%H%M%S)
echo "SCENARIO=$S ROUNDS=${ROUNDS:-4} bash /share/lab/scenarios/$S.sh" > "$J.tmp"; mv "$J.tmp" "$J.sh"
for _ in $(seq "${TIMEOUT:-900}"); do [ -s "$J.rc" ] && break; sleep 1; done
[ "${STOP:-1}" = 0 ] || touch "$WORK/share/jobs/poweroff"
[ "$(cat "$J.rc" 2>/dev/null)" = 0 ] || { echo "$S has failed:"; tail -15 "$J.log"; exit 1; }
rm -rf "${WORK:?}/out/$S"; cp -r "$WORK/share/out/$S" "$WORK/out/$S"
"$HERE/oracles.sh" "$WORK/out/$S"
