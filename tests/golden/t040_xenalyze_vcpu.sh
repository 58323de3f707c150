#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who runs on which pCPU is what Xen's own xenalyze says, on every sample, record by record; the
# differences that are meant are listed in xenalyze_compare.py.
. "$(dirname "$0")/lib.sh"

if sanitized; then
	echo "t030 runs the same with sanitizers"
	exit 77
fi
command -v xenalyze >/dev/null || {
	echo "xenalyze is missing (Debian: apt-get install xen-utils-common)"
	exit 77
}

for trace in "$SAMPLES"/*.xen; do
	name=$(basename "$trace" .xen)
	# any frequency will do, as long as both have the same
	xenalyze_says "$trace" --cpu-hz 2300000000 --dump-all > "$WORK/theirs"
	run dump --quiet --format json --cpu-hz 2300000000 "$trace"
	status 0
	python3 "$GOLDEN/xenalyze_compare.py" "$OUT" "$WORK/theirs" 2300000000 > "$WORK/said"
	STATUS=$?
	status 0
	echo "$name: $(tail -n 20 "$WORK/said")"
done
finish
